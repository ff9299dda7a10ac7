"""Numbers by the clock: at their rate, from where the run before has stopped."""

from falkirk.connectors import Numbers
from falkirk.dataflow.connecting import Limit


class Clock:
    """A clock that is moved by hand."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_they_come_by_the_clock_and_go_on_after_a_restart() -> None:
    clock = Clock()
    source = Numbers(rows_per_second=10, rows_per_epoch=100, clock=clock)
    assert source.latest(0, Limit()) == 0
    clock.now += 3
    assert source.latest(0, Limit()) == 30
    assert source.latest(10, Limit()) == 30, "what was rolled back is due already"
    clock.now += 500
    again = Numbers(rows_per_second=10, rows_per_epoch=100, clock=clock)
    assert again.latest(30, Limit()) == 30, "nothing is made up for"
    clock.now += 1
    assert again.latest(30, Limit()) == 40
    again.close()
    clock.now += 60
    assert again.latest(40, Limit()) == 40
    clock.now += 2
    assert again.latest(40, Limit(rows=5)) == 45
    assert again.latest(40, Limit()) == 60


def test_without_a_clock_they_come_as_fast_as_they_are_taken() -> None:
    source = Numbers(rows=25, rows_per_epoch=10)
    assert [source.latest(n, Limit()) for n in (0, 10, 20, 25)] == [10, 20, 25, 25]
    assert source.latest(0, Limit(rows=3)) == 3
