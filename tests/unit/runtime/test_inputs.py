"""Where an input stands: when it is asked again, and what it has to tell its source."""

from typing import Any

from falkirk.core.times import ProcessorId
from falkirk.dataflow.connecting import Limit
from falkirk.runtime.admission import Admission
from falkirk.runtime.inputs import NEVER, Arrival, Reader


class Source:
    """A source that wants to know what is settled, and nothing else."""

    def settled(self, end: Any) -> None:
        """Hears of it."""


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
