"""Who is answered does not wait for who computes."""

from typing import Any

import pytest

import falkirk as fk
from falkirk.core.machine.events import Notification
from falkirk.runtime.turns import Turns
from falkirk.testing.script import Remembered, Script


class Awaited(Script):
    """A source with clients that wait."""

    awaited = True


def turns(source: Any) -> Turns:
    flow = fk.Dataflow("turns")
    slow = flow.read(Script([[{"v": 1}]]), name="slow").select("v", name="computed")
    slow.write(Remembered(), name="slow-out")
    flow.read(source, name="fast").select("v", name="answered").write(Remembered(), name="out")
    return Turns(flow.build())


def event(p: str, epoch: int) -> Any:
    return Notification(p, (epoch,))


@pytest.mark.parametrize(("threads", "chosen"), [(1, None), (2, "computed")])
def test_one_thread_is_left_for_those_who_wait(threads: int, chosen: str | None) -> None:
    found = turns(Awaited([[{"v": 1}]])).choose([event("computed", 0)], threads, 4)
    assert (found and found.processor) == chosen


def test_those_who_wait_come_first_and_earlier_ones_before_later_ones() -> None:
    items = [event("computed", 0), event("answered", 7), event("answered", 6)]
    assert turns(Awaited([[{"v": 1}]])).choose(items, 1, 4) == event("answered", 6)


def test_where_nobody_waits_all_threads_compute() -> None:
    items = [event("computed", 1), event("answered", 0)]
    assert turns(Script([[{"v": 1}]])).choose(items, 1, 4) == event("answered", 0)
    assert turns(Awaited([[{"v": 1}]])).choose([event("computed", 1)], 1, 1) is not None
