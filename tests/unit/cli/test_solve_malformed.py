"""`falkirk solve`: whatever is malformed is named with its place, in one line."""

import json

import pytest
from tests.unit.cli.documents import (
    EXAMPLE,
    PRODUCT,
    RICH,
    alone,
    complaint,
    edited,
    paths,
    refusal,
)

P, Q = (("processors", p) for p in "pq")
ONE = (*Q, "checkpoints", 1)
LOST = {"failed": True, "checkpoints": [{"frontier": "top"}]}
SHRUNK = {
    "failed": True,
    "checkpoints": [
        {"frontier": [[0]], "projection": {"n": {"n": 3}}},
        {"frontier": "top", "projection": {"n": {"n": 2}}},
    ],
}
MALFORMED: dict[str, tuple[str, str]] = {
    "not JSON": ("{", "problem"),
    "nothing": ("", "problem"),
    "two documents": ("{} {}", "problem"),
    "a list": ("[]", "problem"),
    "no processors": ("{}", "processors"),
    "a key twice": ('{"processors": {}, "edges": {}, "edges": {}}', "problem"),
    "a deep key twice": (
        '{"processors": {"p": {"domain": {"kind": "epoch", "kind": "epoch"}}}}',
        "problem",
    ),
    "an unknown field": (edited(EXAMPLE, "extra", to=1), "problem.extra"),
    "an unknown field of a processor": (edited(EXAMPLE, *P, "x", to=1), "processors.p.x"),
    "an unknown field of a checkpoint": (
        edited(EXAMPLE, *ONE, "x", to=1),
        "processors.q.checkpoints[1].x",
    ),
    "an unknown field of an edge": (edited(EXAMPLE, "edges", "e1", "x", to=1), "edges.e1.x"),
    "an unknown field of a domain": (
        edited(EXAMPLE, *P, "domain", "depth", to=1),
        "processors.p.domain.depth",
    ),
    "no domain": (edited(EXAMPLE, *P, "domain", to=...), "processors.p.domain"),
    "a domain of no kind": (edited(EXAMPLE, *P, "domain", to={}), "processors.p.domain.kind"),
    "an unknown kind": (
        edited(EXAMPLE, *P, "domain", to={"kind": "week"}),
        "processors.p.domain.kind",
    ),
    "no depth": (edited(EXAMPLE, *Q, "domain", "depth", to=...), "processors.q.domain.depth"),
    "depth 0": (edited(EXAMPLE, *Q, "domain", "depth", to=0), "processors.q.domain.depth"),
    "depth true": (edited(EXAMPLE, *Q, "domain", "depth", to=True), "processors.q.domain.depth"),
    "an unknown order": (
        edited(EXAMPLE, *Q, "domain", "order", to="random"),
        "processors.q.domain.order",
    ),
    "an unknown source": (edited(EXAMPLE, "edges", "e1", "src", to="z"), "edges.e1.src"),
    "an unknown target": (edited(EXAMPLE, "edges", "e1", "dst", to="z"), "edges.e1.dst"),
    "no target": (edited(EXAMPLE, "edges", "e1", "dst", to=...), "edges.e1.dst"),
    "no projection": (edited(EXAMPLE, "edges", "e1", "projection", to=...), "edges.e1.projection"),
    "an unknown projection": (
        edited(EXAMPLE, "edges", "e1", "projection", to="jump"),
        "edges.e1.projection",
    ),
    "identity between depths": (
        edited(EXAMPLE, "edges", "e1", "projection", to="identity"),
        "edges.e1.projection",
    ),
    "enter at one depth": (
        edited(EXAMPLE, "edges", "e2", "projection", to="enter"),
        "edges.e2.projection",
    ),
    "enter out of a loop": (
        edited(EXAMPLE, "edges", "e3", "projection", to="enter"),
        "edges.e3.projection",
    ),
    "leave into a loop": (
        edited(EXAMPLE, "edges", "e1", "projection", to="leave"),
        "edges.e1.projection",
    ),
    "leave at one depth": (
        edited(EXAMPLE, "edges", "e2", "projection", to="leave"),
        "edges.e2.projection",
    ),
    "feedback between depths": (
        edited(EXAMPLE, "edges", "e1", "projection", to="feedback"),
        "edges.e1.projection",
    ),
    "feedback on epochs": (
        edited(EXAMPLE, "edges", "e4", to={"src": "p", "dst": "r", "projection": "feedback"}),
        "edges.e4.projection",
    ),
    "identity into a sequence": (
        edited(RICH, "edges", "n", "projection", to="identity"),
        "edges.n.projection",
    ),
    "enter out of a sequence": (
        edited(RICH, "edges", "m", "projection", to="enter"),
        "edges.m.projection",
    ),
    "recorded out of any_frontier": (
        edited(EXAMPLE, "edges", "e1", "projection", to="recorded"),
        "edges.e1.projection",
    ),
    "a cycle that stands still": (
        edited(EXAMPLE, "edges", "e2", "projection", to="identity"),
        "edges",
    ),
    "a longer cycle that stands still": (
        edited(EXAMPLE, "edges", "e4", to={"src": "q", "dst": "p", "projection": "leave"}),
        "edges",
    ),
    "a checkpoint without a frontier": (
        edited(EXAMPLE, *ONE, "frontier", to=...),
        "processors.q.checkpoints[1].frontier",
    ),
    "a time of the wrong depth": (
        edited(EXAMPLE, *ONE, "frontier", to=[[1]]),
        "processors.q.checkpoints[1].frontier[0]",
    ),
    "an epoch that is not a list": (
        edited(EXAMPLE, *P, "complete", to=[2]),
        "processors.p.complete[0]",
    ),
    "a negative coordinate": (
        edited(EXAMPLE, *ONE, "frontier", to=[[1, -1]]),
        "processors.q.checkpoints[1].frontier[0][1]",
    ),
    "a negative epoch": (edited(EXAMPLE, *P, "complete", to=[[-1]]), "processors.p.complete[0][0]"),
    "inf as an epoch": (
        edited(EXAMPLE, *P, "complete", to=[["inf"]]),
        "processors.p.complete[0][0]",
    ),
    "inf as the epoch of a loop": (
        edited(EXAMPLE, *ONE, "frontier", to=[["inf", "inf"]]),
        "processors.q.checkpoints[1].frontier[0][0]",
    ),
    "true as a number": (
        edited(EXAMPLE, *ONE, "frontier", to=[[1, True]]),
        "processors.q.checkpoints[1].frontier[0][1]",
    ),
    "a fraction": (edited(EXAMPLE, *P, "complete", to=[[1.5]]), "processors.p.complete[0][0]"),
    "a whole fraction": (
        edited(EXAMPLE, *P, "complete", to=[[1.0]]),
        "processors.p.complete[0][0]",
    ),
    "NaN": (
        edited(EXAMPLE, *P, "complete", to=[[float("nan")]]),
        "processors.p.complete[0][0]",
    ),
    "two maximal times in lex order": (
        edited(EXAMPLE, *ONE, "frontier", to=[[1, 3], [2, 0]]),
        "processors.q.checkpoints[1].frontier",
    ),
    "two epochs": (edited(EXAMPLE, *P, "complete", to=[[1], [2]]), "processors.p.complete"),
    "an unknown word for a frontier": (
        edited(EXAMPLE, *P, "complete", to="all"),
        "processors.p.complete",
    ),
    "a number for a frontier": (edited(EXAMPLE, *P, "complete", to=2), "processors.p.complete"),
    "an object for a frontier of epochs": (
        edited(EXAMPLE, *P, "complete", to={"e1": 2}),
        "processors.p.complete",
    ),
    "a list for a frontier of numbers": (
        edited(RICH, "processors", "s", "checkpoints", 0, "frontier", to=[[5]]),
        "processors.s.checkpoints[0].frontier",
    ),
    "a number on an edge that is not an input": (
        edited(RICH, "processors", "s", "checkpoints", 0, "frontier", to={"m": 5}),
        "processors.s.checkpoints[0].frontier",
    ),
    "a negative number on an edge": (
        edited(RICH, "processors", "s", "checkpoints", 0, "frontier", to={"n": -5}),
        "processors.s.checkpoints[0].frontier.n",
    ),
    "true on an edge": (
        edited(RICH, "processors", "s", "checkpoints", 0, "frontier", to={"n": True}),
        "processors.s.checkpoints[0].frontier.n",
    ),
    "a word on an edge": (
        edited(RICH, "processors", "s", "checkpoints", 0, "frontier", to={"n": "all"}),
        "processors.s.checkpoints[0].frontier.n",
    ),
    "a lost top twice": (
        json.dumps(alone(PRODUCT, failed=True, checkpoints=[{"frontier": "top"}] * 2)),
        "processors.p.checkpoints[1]",
    ),
    "a missing recorded projection at a lost top": (
        edited(RICH, "processors", "a", to={**RICH["processors"]["a"], **LOST}),
        "processors.a.checkpoints[0]",
    ),
    "a projection at a lost top that shrinks": (
        edited(RICH, "processors", "a", to={**RICH["processors"]["a"], **SHRUNK}),
        "processors.a.checkpoints[1]",
    ),
    "a checkpoint twice": (
        edited(EXAMPLE, *Q, "checkpoints", 2, "frontier", to=[[1, 3]]),
        "processors.q.checkpoints[2]",
    ),
    "the empty frontier twice": (
        edited(EXAMPLE, *Q, "checkpoints", 1, to={"frontier": []}),
        "processors.q.checkpoints[1]",
    ),
    "checkpoints that are no chain": (
        json.dumps(alone(PRODUCT, checkpoints=[{"frontier": [t]} for t in ([0, 1], [1, 0])])),
        "processors.p.checkpoints[1]",
    ),
    "a missing recorded projection": (
        edited(RICH, "processors", "a", "checkpoints", 0, "projection", to=...),
        "processors.a.checkpoints[0]",
    ),
    "a recorded projection that shrinks": (
        edited(RICH, "processors", "a", "checkpoints", 1, "projection", "n", to={"n": 2}),
        "processors.a.checkpoints[1]",
    ),
    "a projection of an edge that is not recorded": (
        edited(EXAMPLE, *ONE, "projection", to={"e3": [[1]]}),
        "processors.q.checkpoints[1].projection",
    ),
    "a projection in the wrong domain": (
        edited(RICH, "processors", "a", "checkpoints", 0, "projection", "n", to=[[3]]),
        "processors.a.checkpoints[0].projection.n",
    ),
    "processed on an unknown edge": (
        edited(EXAMPLE, *ONE, "processed", to={"e9": "empty"}),
        "processors.q.checkpoints[1].processed",
    ),
    "processed on an output": (
        edited(EXAMPLE, *ONE, "processed", to={"e3": "empty"}),
        "processors.q.checkpoints[1].processed",
    ),
    "discarded on an input": (
        edited(EXAMPLE, *ONE, "discarded", to={"e1": "empty"}),
        "processors.q.checkpoints[1].discarded",
    ),
    "discarded in the wrong domain": (
        edited(EXAMPLE, *ONE, "discarded", "e3", to=[[1, 0]]),
        "processors.q.checkpoints[1].discarded.e3[0]",
    ),
    "something processed at the empty frontier": (
        edited(EXAMPLE, *Q, "checkpoints", 0, "processed", to={"e1": [[0, 0]]}),
        "processors.q.checkpoints[0]",
    ),
    "something discarded at the empty frontier": (
        edited(EXAMPLE, *Q, "checkpoints", 0, "discarded", to={"e3": "top"}),
        "processors.q.checkpoints[0]",
    ),
    "a projection of something at the empty frontier": (
        edited(RICH, "processors", "a", "checkpoints", 0, "frontier", to="empty"),
        "processors.a.checkpoints[0]",
    ),
    "a notification at the empty frontier": (
        edited(EXAMPLE, *Q, "checkpoints", 0, "notified", to=[[0, 0]]),
        "processors.q.checkpoints[0]",
    ),
    "checkpoints and any_frontier": (
        edited(EXAMPLE, *P, "checkpoints", to=[]),
        "processors.p.checkpoints",
    ),
    "complete without any_frontier": (
        edited(EXAMPLE, *Q, "complete", to="empty"),
        "processors.q.complete",
    ),
    "logs without any_frontier": (edited(EXAMPLE, *Q, "logs", to=["e3"]), "processors.q.logs"),
    "a flag that is a number": (edited(EXAMPLE, *Q, "failed", to=1), "processors.q.failed"),
    "a flag that is a word": (
        edited(EXAMPLE, *P, "any_frontier", to="yes"),
        "processors.p.any_frontier",
    ),
    "a flag that is null": (edited(EXAMPLE, *P, "notifies", to=None), "processors.p.notifies"),
    "checkpoints that are no list": (
        edited(EXAMPLE, *Q, "checkpoints", to={}),
        "processors.q.checkpoints",
    ),
    "a checkpoint that is no object": (
        edited(EXAMPLE, *ONE, to=[[1, 3]]),
        "processors.q.checkpoints[1]",
    ),
    "logs that are no list": (edited(EXAMPLE, *P, "logs", to="e1"), "processors.p.logs"),
    "logs of an input": (edited(RICH, "processors", "t", "logs", to=["m"]), "processors.t.logs"),
    "logs of an unknown edge": (edited(EXAMPLE, *P, "logs", to=["z"]), "processors.p.logs"),
}


@pytest.mark.parametrize(("text", "place"), MALFORMED.values(), ids=MALFORMED)
def test_what_is_malformed_is_named_with_its_place(text: str, place: str) -> None:
    assert complaint(text).place == place


@pytest.mark.parametrize("problem", [EXAMPLE, RICH], ids=["example", "rich"])
def test_the_wrong_type_anywhere_is_one_complaint(problem: dict) -> None:
    """Every value in turn is replaced by values of every type."""
    wrong = (None, True, -1, 0, 1.5, "x", "empty", "inf", [], [[]], [None], {}, {"x": 1})
    complaints = 0
    for path in paths(problem):
        for value in wrong:
            said = refusal(edited(problem, *path, to=value))
            if said is not None:
                assert len(said.splitlines()) == 1
                complaints += 1
    assert complaints > 500
