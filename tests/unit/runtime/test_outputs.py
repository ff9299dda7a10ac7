"""Releases that are under way when their output fails are not handed out a second time."""

import time
from threading import Event
from typing import Any

import pyarrow as pa

from falkirk.core.errors import ConnectorError, OutageError, PermanentError
from falkirk.core.machine.events import Release
from falkirk.core.times import ProcessorId
from falkirk.runtime.batch import Batch
from falkirk.runtime.blocks import LostBlocksError
from falkirk.runtime.content import Content
from falkirk.runtime.outputs import Outputs
from falkirk.runtime.patience import OUTSIDE, Patience

SINK = ProcessorId("sink")


class Slow:
    """A sink that takes a time when it is allowed to, or misses its rows first."""

    def __init__(self, exactly_once: bool = True) -> None:
        self.exactly_once = exactly_once
        self.allowed, self.taken, self.calls = Event(), list[Any](), 0

    def write(self, name: str, time: Any, batch: Any) -> None:
        """Takes the rows of ``time``."""
        self.calls += 1
        self.allowed.wait(10)
        if batch.content.lost:
            raise LostBlocksError("gone")
        self.taken.append(time)


class Rows:
    """Stands for Spark: one content at a time, and a content without rows is lost."""

    def union(self, contents: list[Content]) -> Content:
        """The only one."""
        return contents[0]

    def find_lost(self, content: Content) -> bool:
        """Whether it is lost."""
        return content.lost


def release(materialiser: Any, lost: bool = False, time: int = 0) -> Release:
    """The output of one time."""
    content = Content(table=pa.table({"n": [1]}))
    if lost:
        from falkirk.runtime.blocks import Cached

        content = Content()
        content.cached = Cached(None, None)
        content.cached.lost = True
    return Release(SINK, (time,), (Batch(content, materialiser),))


def outputs(sink: Any, told: list[Any], patience: Patience = OUTSIDE) -> Outputs:
    """Outputs that tell what came of releases."""
    rows: Any = Rows()
    return Outputs(
        {SINK: sink},
        rows,
        lambda each: told.append(("taken", each)),
        lambda error: told.append(("broken", error)),
        lambda each: told.append(("missed", each)),
        patience,
        store="the store",
    )


def finish(found: Outputs) -> None:
    """Waits until nothing is queued."""
    deadline = time.monotonic() + 10
    while found.waiting and time.monotonic() < deadline:
        time.sleep(0.01)


def test_what_is_under_way_is_not_handed_out_again_until_it_is_known_to_be_taken() -> None:
    sink, told = Slow(), list[Any]()
    found = outputs(sink, told)
    first = release(found.materialiser)
    found.release(first)
    found.release(release(found.materialiser))
    sink.allowed.set()
    finish(found)
    found.release(release(found.materialiser))  # the driver has not heard of it yet
    finish(found)
    assert (sink.taken, told) == ([(0,)], [("taken", first)])
    found.settled(first)
    found.release(release(found.materialiser))
    finish(found)
    assert sink.taken == [(0,), (0,)]
    found.close()


def test_what_is_offered_again_goes_out_if_the_first_offer_is_lost() -> None:
    sink, told = Slow(), list[Any]()
    found = outputs(sink, told)
    gone, again = release(found.materialiser, lost=True), release(found.materialiser)
    found.release(gone)
    found.release(again)
    sink.allowed.set()
    finish(found)
    assert told == [("missed", gone)]
    found.failed(gone)
    finish(found)
    assert told == [("missed", gone), ("taken", again)]
    found.close()


def test_a_sink_that_does_not_recognise_repetitions_is_given_everything() -> None:
    sink, told = Slow(exactly_once=False), list[Any]()
    found = outputs(sink, told)
    found.release(release(found.materialiser))
    found.release(release(found.materialiser))
    sink.allowed.set()
    finish(found)
    assert sink.calls == 2
    found.close()


def test_later_times_wait_for_one_whose_rows_are_gone() -> None:
    sink, told = Slow(), list[Any]()
    found = outputs(sink, told)
    gone, second, third = (
        release(found.materialiser, lost=True),
        release(found.materialiser, time=1),
        release(found.materialiser, time=2),
    )
    sink.allowed.set()
    for each in (gone, second, third):
        found.release(each)
    settle(lambda: len(told) == 1)
    assert told == [("missed", gone)]
    assert found.waiting, "the run must not end before they are out"
    found.failed(gone)
    found.release(release(found.materialiser))
    finish(found)
    assert sink.taken == [(0,), (1,), (2,)]
    found.close()


class Faulty:
    """A sink that raises some errors first, and remembers what it was called for."""

    exactly_once = True

    def __init__(self, *errors: Exception, attaching: tuple[Exception, ...] = ()) -> None:
        """``attaching`` are raised when it is told its store."""
        self.errors, self.attaching = list(errors), list(attaching)
        self.calls: list[Any] = []

    def attach(self, name: str, store: str) -> None:
        """Hears whose output it is."""
        self.calls.append((name, store))
        if self.attaching:
            raise self.attaching.pop(0)

    def write(self, name: str, time: Any, batch: Any) -> None:
        """Takes the rows of ``time``, in the end."""
        self.calls.append(time)
        if self.errors:
            raise self.errors.pop(0)

    def close(self) -> None:
        """Hears that the run is over."""
        self.calls.append("closed")


BRISK = Patience(attempts=3, first_seconds=0.001)


def handed(sink: Faulty, *times: int) -> list[Any]:
    """What became of some times."""
    told: list[Any] = []
    found = outputs(sink, told, BRISK)
    for time_ in times:
        found.release(release(found.materialiser, time=time_))
    finish(found)
    found.close()
    return told


def test_a_sink_is_told_its_store_first_and_closed_last() -> None:
    sink = Faulty()
    assert [word for word, _ in handed(sink, 0, 1)] == ["taken", "taken"]
    assert sink.calls == [("sink", "the store"), (0,), (1,), "closed"]


def test_what_passes_is_tried_again() -> None:
    sink = Faulty(ValueError("once"), OutageError("twice"), attaching=(OutageError("down"),))
    assert [word for word, _ in handed(sink, 0)] == ["taken"]
    assert sink.calls == [("sink", "the store")] * 2 + [(0,)] * 3 + ["closed"]


def test_what_is_permanent_stops_the_flow_at_once() -> None:
    sink = Faulty(PermanentError("no such column"))
    ((word, error),) = handed(sink, 0, 1)
    assert word == "broken"
    assert type(error) is PermanentError
    assert str(error).count("FK710") == 1
    assert "time (0,): no such column" in str(error)
    assert sink.calls == [("sink", "the store"), (0,), "closed"], "no later time before this one"


def test_a_sink_that_belongs_to_another_store_gets_nothing() -> None:
    sink = Faulty(attaching=(PermanentError("another store"),))
    ((word, error),) = handed(sink, 0, 1)
    assert (word, type(error)) == ("broken", PermanentError)
    assert sink.calls == [("sink", "the store"), "closed"]


def test_patience_ends_sooner_for_what_nobody_knows_than_for_an_outage() -> None:
    unknown = Faulty(*(ValueError("?") for _ in range(9)))
    ((word, error),) = handed(unknown, 0)
    assert (word, type(error)) == ("broken", ConnectorError)
    assert unknown.calls.count((0,)) == BRISK.attempts
    down = Faulty(*(OutageError("down") for _ in range(BRISK.attempts + 1)))
    assert [word for word, _ in handed(down, 0)] == ["taken"]


def test_a_run_that_ends_does_not_wait_for_a_sink_that_is_down() -> None:
    sink, told = Faulty(*(OutageError("down") for _ in range(100))), list[Any]()
    found = outputs(sink, told)
    found.release(release(found.materialiser))
    settle(lambda: (0,) in sink.calls)
    found.close()
    assert sink.calls.count((0,)) < 100
    assert sink.calls[-1] == "closed"


def settle(condition: Any) -> None:
    """Waits until something has come about."""
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)
