"""Where an input stands: when it is asked again, and what it has to tell its source."""

from threading import Event
from typing import Any

import pytest

from falkirk.core.times import ProcessorId
from falkirk.dataflow.connecting import Limit
from falkirk.runtime.admission import Admission
from falkirk.runtime.inputs import NEVER, Arrival, Reader
from falkirk.runtime.looking import Looking


class Source:
    """A source that wants to know what is settled, and nothing else."""

    def settled(self, end: Any) -> None:
        """Hears of it."""


class Slow:
    """A source that has something when it is asked for the ``patience``-th time."""

    def __init__(self, patience: int, ends: bool = False) -> None:
        self.patience, self.ends, self.asked = patience, ends, 0

    def latest(self, start: Any, limit: Limit) -> Any:
        """Something new, or still nothing."""
        self.asked += 1
        return 1 if self.asked >= self.patience else start

    def finished(self, position: Any) -> bool:
        """Whether to wait for more."""
        return self.ends

    def read(self, session: Any, start: Any, end: Any) -> str:
        """What there is."""
        return "rows"


def looking(sources: int = 1, seconds: float = 60.0, closing: bool = False) -> Looking:
    """Nobody waits so long here: a look takes no time, and the pause after it is in proportion."""
    found = Looking(seconds, sources, Event())
    if closing:
        found.closing.set()
    return found


def reader(source: Any = None, limit: Limit | None = None) -> Reader:
    return Reader(ProcessorId("in"), source, Admission.of(limit or Limit()))


def arrival(end: int, began: float = 0.0) -> Arrival:
    return Arrival("rows", end, None, False, began)


def test_a_quiet_source_is_asked_again_after_a_while() -> None:
    found = reader()
    found.rest(until=5.0)
    assert found.quiet_until == 5.0


def test_a_source_that_listens_is_left_alone_until_it_calls() -> None:
    found = reader()
    found.listening = True
    found.rest(until=5.0)
    assert found.quiet_until == NEVER
    found.awake()
    assert found.quiet_until == 0.0


def test_a_call_while_it_was_being_asked_is_not_lost() -> None:
    found = reader()
    found.listening = True
    found.awake()
    found.rest(until=5.0)
    assert found.quiet_until == 0.0


def test_an_epoch_by_the_clock_is_read_so_long_after_the_one_before() -> None:
    found = reader(limit=Limit(seconds=0.5))
    found.taken(0, arrival(end=7, began=10.0))
    assert found.quiet_until == 10.5
    found = reader()
    found.taken(0, arrival(end=7, began=10.0))
    assert found.quiet_until == 0.0


def test_what_is_acknowledged_and_what_is_settled_go_by_epochs() -> None:
    found = reader(Source())
    for epoch in range(4):
        found.taken(epoch, arrival(end=10 * epoch))
    assert found.acknowledged(1) == 10
    assert found.acknowledged(1) is None
    assert found.settled(2) == 20
    assert found.settled(2) is None
    found.taken(4, arrival(end=40))
    found.rewind(30, epoch=4)
    assert found.settled(9) == 30, "what was rolled back is not settled"


def test_whoever_does_not_want_to_know_is_told_nothing() -> None:
    found = reader(object())
    found.taken(0, arrival(end=1))
    assert not found.unsettled
    assert found.hook("settled") is None


def test_while_the_flow_is_idle_a_poll_looks_several_times() -> None:
    source = Slow(patience=3)
    found = reader(source).poll(None, looking(), often=True)
    assert (found.data, found.end, source.asked) == ("rows", 1, 3)


def test_a_slower_pace_that_was_asked_for_is_kept() -> None:
    assert looking(seconds=0.01).often
    assert not looking(seconds=0.02).often


@pytest.mark.parametrize(
    ("often", "given"),
    [
        pytest.param(False, looking(), id="the flow works"),
        pytest.param(True, looking(seconds=0.0), id="the time is over"),
        pytest.param(True, looking(sources=100, seconds=0.1), id="many sources"),
        pytest.param(True, looking(closing=True), id="the run ends"),
    ],
)
def test_otherwise_it_looks_once(often: bool, given: Looking) -> None:
    source = Slow(patience=3)
    found = reader(source).poll(None, given, often)
    assert (found.data, found.finished, source.asked) == (None, False, 1)
    assert found.at > 0.0


def test_a_source_that_has_ended_is_not_waited_for() -> None:
    source = Slow(patience=3, ends=True)
    found = reader(source).poll(None, looking(), often=True)
    assert (found.data, found.finished, source.asked) == (None, True, 1)


def test_a_source_that_calls_by_itself_is_asked_once() -> None:
    source = Slow(patience=3)
    found = reader(source)
    found.listening = True
    assert found.poll(None, looking(), often=True).data is None
    assert source.asked == 1


def test_the_pause_is_in_proportion_to_a_look_and_to_the_sources() -> None:
    pauses = {n: looking(n, seconds=0.01).pause(0.0) for n in (1, 3, 50)}
    assert pauses == {1: 0.002, 3: 0.006, 50: 0.01}
    assert looking(1, seconds=0.01).pause(0.0004) == 0.008
    assert looking(1, seconds=0.01).pause(5.0) == 0.01
