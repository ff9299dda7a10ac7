"""§4.4, recovery from failure: those that have not failed offer ⊤."""

import pytest
from tests.paper.builders import epochs, upto

from falkirk.core import EPOCH, AnyFrontier, Checkpoint, Completed, Monitor, Saved

GRAPH = epochs("pqrs", a="p > q", b="q > r", c="p > s")
EMPTY = EPOCH.empty
# Everyone has worked on up to epoch 5 since; q logs, r and s send nothing.
LIVE = {
    "q": Checkpoint(EPOCH.top, upto(5), {"a": upto(5)}, {"b": EMPTY}),
    "r": Checkpoint(EPOCH.top, upto(5), {"b": upto(5)}),
    "s": Checkpoint(EPOCH.top, upto(5), {"c": upto(5)}),
}


def running() -> Monitor:
    """p is stateless and logs everything; the others saved epoch 2 (r: epoch 1) last."""
    monitor = Monitor(GRAPH, {"p": AnyFrontier(EMPTY, logs=frozenset("ac"))})
    monitor.update(
        [
            Completed("p", upto(5)),
            Saved("q", Checkpoint(upto(2), discarded={"b": EMPTY})),
            Saved("r", Checkpoint(upto(1))),
            Saved("s", Checkpoint(upto(2))),
        ]
    )
    return monitor


@pytest.mark.parametrize(
    ("failed", "kept"),
    [
        ("", {"p": EPOCH.top, "q": EPOCH.top, "r": EPOCH.top, "s": EPOCH.top}),
        ("r", {"p": EPOCH.top, "q": EPOCH.top, "r": upto(1), "s": EPOCH.top}),
        ("q", {"p": EPOCH.top, "q": upto(2), "r": upto(1), "s": EPOCH.top}),
        ("s", {"p": EPOCH.top, "q": EPOCH.top, "r": EPOCH.top, "s": upto(2)}),
        ("qs", {"p": EPOCH.top, "q": upto(2), "r": upto(1), "s": upto(2)}),
        ("p", {"p": upto(5), "q": EPOCH.top, "r": EPOCH.top, "s": EPOCH.top}),
        ("pqrs", {"p": upto(5), "q": upto(2), "r": upto(1), "s": upto(2)}),
    ],
)
def test_all_that_have_not_failed_have_top_added(failed: str, kept: dict) -> None:
    """§4.4: "All non-failed processors p have ⊤ temporarily added to F*(p), and the incremental
    algorithm computes the maximal frontiers needed for rollback given the failed processors".
    """
    assert running().rollback_plan(failed, LIVE).frontiers == kept


def test_a_processor_that_lives_may_have_to_go_back_all_the_same() -> None:
    """§4.4: "A non-failed processor with a frontier earlier than ⊤": r processed what q lost."""
    plan = running().rollback_plan("q", LIVE)
    (reason,) = (v for v in plan.reasons["r"] if v.constraint == "delivered-messages")
    assert reason.edge == "b"
    assert "q" not in plan.reasons, "it keeps the largest frontier that it has"


def test_top_is_added_only_temporarily() -> None:
    monitor = running()
    before = {p: monitor.watermark(p) for p in GRAPH.domains}
    for failed in ("", "q", "pqrs"):
        monitor.rollback_plan(failed, LIVE)
    assert {p: monitor.watermark(p) for p in GRAPH.domains} == before
    advance = monitor.update([Saved("r", Checkpoint(upto(2)))])
    assert advance.watermarks == {"r": upto(2)}


def test_all_together_fall_back_to_the_low_watermarks() -> None:
    monitor = running()
    plan = monitor.rollback_plan("pqrs", LIVE)
    assert plan.frontiers == {p: monitor.watermark(p) for p in GRAPH.domains}
