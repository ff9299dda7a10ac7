"""Releases that are under way when their output fails are not handed out a second time."""

import time
from threading import Event
from typing import Any

import pyarrow as pa

from falkirk.core.machine.events import Release
from falkirk.core.times import ProcessorId
from falkirk.runtime.batch import Batch
from falkirk.runtime.blocks import LostBlocksError
from falkirk.runtime.content import Content
from falkirk.runtime.outputs import Outputs

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


def release(materialiser: Any, lost: bool = False) -> Release:
    """The output of one time."""
    content = Content(table=pa.table({"n": [1]}))
    if lost:
        from falkirk.runtime.blocks import Cached

        content = Content()
        content.cached = Cached(None, None)
        content.cached.lost = True
    return Release(SINK, (0,), (Batch(content, materialiser),))


def outputs(sink: Slow, told: list[Any]) -> Outputs:
    """Outputs that tell what came of releases."""
    rows: Any = Rows()
    return Outputs(
        {SINK: sink},
        rows,
        lambda each: told.append(("taken", each)),
        lambda error: told.append(("broken", error)),
        lambda each: told.append(("missed", each)),
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
