"""The description that a store compares: it has what must not change, and nothing else."""

import json

from tests.unit.dataflow.ends import Sink, Source

import falkirk as fk
from falkirk.dataflow import Dataflow, describe


def flow_with(name: str = "described", every: int = 1) -> Dataflow:
    flow = fk.Dataflow(name)
    start = flow.read(Source(), name="in")
    start.iterate(lambda inner: inner.where("a"), order="product").group_by("a").count(
        name="counts", policy=fk.lazy(every=every)
    ).write(Sink(), name="out")
    start.latest(start, name="versions")
    return flow


def test_it_has_processors_edges_and_bridges() -> None:
    described = describe(flow_with().build())
    assert described["name"] == "described"
    assert described["processors"]["counts"] == {
        "kind": "RunningAggregate",
        "role": "inner",
        "domain": {"depth": 1, "order": "lex"},
        "regime": "lazy",
        "logs": [],
        "opaque": False,
    }
    assert described["processors"]["where"]["domain"] == {"depth": 2, "order": "product"}
    assert described["edges"]["loop-around>loop"] == {
        "source": "loop-around",
        "target": "loop",
        "port": 1,
        "projection": "feedback",
    }
    assert described["latest"] == [{"slow": "versions-out", "versions": "versions", "fast": "in"}]


def test_it_has_sequences_and_what_is_logged_for_windows() -> None:
    flow = fk.Dataflow("sequences")
    numbered = flow.read(Source(), name="in").in_sequence(name="numbers")
    kept = numbered.where("a", name="kept", policy=fk.snapshot(region="left"))
    kept.windows(count=3, name="back", policy=fk.lazy()).write(Sink(), name="out")
    described = describe(flow.build())
    domains = {name: each["domain"] for name, each in described["processors"].items()}
    epochs, numbers = {"depth": 1, "order": "lex"}, {"kind": "sequence"}
    assert domains == {
        "in": epochs,
        "numbers": epochs,
        "kept": numbers,
        "back": numbers,
        "out": epochs,
    }
    assert described["processors"]["back"]["logs"] == ["back>out"]
    projections = {name: each["projection"] for name, each in described["edges"].items()}
    assert projections == {
        "in>numbers": "identity",
        "numbers>kept": "recorded",
        "kept>back": "recorded",
        "back>out": "recorded",
    }
    assert json.loads(json.dumps(described)) == described


def test_it_survives_json() -> None:
    described = describe(flow_with().build())
    assert json.loads(json.dumps(described)) == described


def test_intervals_and_places_may_change() -> None:
    assert describe(flow_with(every=1).build()) == describe(flow_with(every=9).build())
