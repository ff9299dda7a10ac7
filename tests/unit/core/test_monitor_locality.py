"""The monitor looks again only at those whom an announcement can concern (§4.2)."""

import pytest

from falkirk.core.checkpoint import Checkpoint
from falkirk.core.domain import EPOCH
from falkirk.core.fixpoint import Fixpoint
from falkirk.core.graph import Edge, Graph
from falkirk.core.monitor import Monitor, Saved
from falkirk.core.projection import Identity

SAME = Identity(EPOCH, EPOCH)


def pipeline(length: int) -> Monitor:
    """Everyone has saved epochs 0 to 3, and the last processor nothing: all wait for it."""
    names = [f"p{i}" for i in range(length)]
    edges = [Edge(f"e{i}", f"p{i}", f"p{i + 1}", SAME) for i in range(length - 1)]
    monitor = Monitor(Graph(dict.fromkeys(names, EPOCH), edges), {})
    for epoch in range(4):
        monitor.update([saved(p, epoch) for p in names[:-1]])
    return monitor


def saved(p: str, epoch: int) -> Saved:
    return Saved(p, Checkpoint(EPOCH.frontier([(epoch,)])))


@pytest.fixture
def examined(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The processors that the monitor looks at again."""
    seen: list[int] = []
    examine = Fixpoint._examine

    def spy(point: Fixpoint, p: int) -> None:
        seen.append(p)
        examine(point, p)

    monkeypatch.setattr(Fixpoint, "_examine", spy)
    return seen


@pytest.mark.parametrize("length", [10, 1_000])
def test_one_who_runs_ahead_concerns_nobody(length: int, examined: list[int]) -> None:
    monitor = pipeline(length)
    monitor.update([saved("p4", 4)])  # forgets what others once concluded from its absence
    examined.clear()
    assert not monitor.update([saved("p4", 5)]).watermarks
    assert examined == []


@pytest.mark.parametrize("length", [10, 1_000])
def test_one_who_was_slow_concerns_those_who_waited_for_it(
    length: int, examined: list[int]
) -> None:
    monitor = pipeline(length)
    examined.clear()
    advance = monitor.update([saved(f"p{length - 1}", 0)])
    assert len(advance.watermarks) == length
    assert len(examined) <= 2 * length
