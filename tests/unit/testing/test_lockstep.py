"""The pieces of a driver that does all by itself."""

from concurrent.futures import ThreadPoolExecutor
from queue import Empty, SimpleQueue
from threading import get_ident
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.unit.runtime.test_beginning import Bench, many

from falkirk.core.machine.events import CollectLog, Retract
from falkirk.core.times import EdgeId
from falkirk.runtime.line import Line
from falkirk.runtime.tidying import PutOff
from falkirk.testing.lockstep import AtOnce, Inbox, Round, in_lockstep


def test_what_is_handed_to_a_thread_is_done_at_once() -> None:
    done: list[int] = []
    with AtOnce() as pool:
        future = pool.submit(lambda: done.append(get_ident()))
        assert done == [get_ident()]
        assert future.result() is None
        failed = pool.submit(lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        failed.result()


def test_a_round_ends_when_all_was_taken() -> None:
    later = PutOff()
    line = Round(later)
    retraction = Retract({}, {})
    for item in (("a", None), (CollectLog(EdgeId("e"), 1), None), (retraction, None), ("b", None)):
        line.put(item)
    assert line.next(None) == [("a", None)]
    assert len(later) == 1
    assert line.next(None) == [(retraction, None), ("b", None)]
    assert line.next(None) == [None]


@pytest.mark.parametrize(("pace", "writes"), [(1, [1, 2, 3, 4]), (2, [2, 4]), (4, [4])])
def test_the_store_writes_every_few_rounds(pace: int, writes: list[int]) -> None:
    written: list[int] = []
    inbox = Inbox(lambda: written.append(inbox.rounds), pace)
    for _ in range(8):
        inbox.put(lambda: None)
    for _ in range(4):
        inbox.get(timeout=1.0)
        inbox.get()
    assert written == writes
    assert not inbox.idle


def test_the_store_writes_when_there_is_nothing_else_to_do() -> None:
    heard = []
    inbox = Inbox(lambda: inbox.put(lambda: heard.append("durable")), 4)
    inbox.get(timeout=1.0)()
    assert heard == ["durable"]
    assert not inbox.idle


def test_a_driver_that_nobody_tells_anything_is_idle() -> None:
    inbox = Inbox(lambda: None, 1)
    with pytest.raises(Empty):
        inbox.get(timeout=0.001)
    assert inbox.idle


def test_what_is_begun_does_not_depend_on_how_long_ago_somebody_looked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("falkirk.runtime.working.LOOK_SECONDS", float("inf"))
    bench = Bench(many(), threads=1)
    in_lockstep(driver_of(bench))
    bench.works_off(4)
    assert bench.looks == 5


def driver_of(bench: Bench) -> Any:
    """A driver that begins what is on the bench, with nothing to read, write or save."""
    driver = cast(Any, bench)
    driver.persistence = SimpleNamespace(
        close=lambda: None, _later=PutOff(), _line=Line(PutOff()), _run=lambda: None
    )
    driver.feeding = SimpleNamespace(_threads=ThreadPoolExecutor(1))
    driver.outputs = SimpleNamespace(_threads={}, sinks={})
    driver.inbox = SimpleQueue()
    return driver
