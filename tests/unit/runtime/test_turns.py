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


class Answered(Awaited):
    """One whose answers a sink gives."""

    def answered_by(self, sink: Any) -> bool:
        return sink is ANSWERS


ANSWERS = Remembered()


def turns(source: Any) -> Turns:
    flow = fk.Dataflow("turns")
    slow = flow.read(Script([[{"v": 1}]]), name="slow").select("v", name="computed")
    slow.write(Remembered(), name="slow-out")
    flow.read(source, name="fast").select("v", name="answered").write(Remembered(), name="out")
    return Turns(flow.build())


def choose(turns: Turns, items: list[Any], threads: int, all_threads: int) -> Any:
    """Who comes next, if anybody may."""
    found = turns.first(items, threads, all_threads)
    assert all(turns.may_begin(item, threads, all_threads) for item in found)
    return found[0] if found else None


def event(p: str, epoch: int) -> Any:
    return Notification(p, (epoch,))


@pytest.mark.parametrize(("threads", "chosen"), [(1, None), (2, "computed")])
def test_one_thread_is_left_for_those_who_wait(threads: int, chosen: str | None) -> None:
    found = choose(turns(Awaited([[{"v": 1}]])), [event("computed", 0)], threads, 4)
    assert (found and found.processor) == chosen


def test_those_who_wait_come_first_and_earlier_ones_before_later_ones() -> None:
    items = [event("computed", 0), event("answered", 7), event("answered", 6)]
    assert choose(turns(Awaited([[{"v": 1}]])), items, 1, 4) == event("answered", 6)


def test_where_nobody_waits_all_threads_compute() -> None:
    items = [event("computed", 1), event("answered", 0)]
    assert choose(turns(Script([[{"v": 1}]])), items, 1, 4) == event("answered", 0)
    assert choose(turns(Awaited([[{"v": 1}]])), [event("computed", 1)], 1, 1) is not None


def with_statistics(inline: bool = False) -> Turns:
    """A query has an answer, and is counted besides."""
    flow = fk.Dataflow("statistics")
    slow = flow.read(Script([[{"v": 1}]]), name="slow").select("v", name="computed")
    slow.write(Remembered(), name="slow-out")
    found = flow.read(Answered([[{"v": 1}]]), name="fast").select("v", name="answered")
    found.write(ANSWERS, name="out")
    found.select("v", name="counted").write(Remembered(), name="statistics")
    return Turns(flow.build(), lambda item: inline)


def test_the_answer_comes_before_what_else_a_query_leads_to() -> None:
    items = [event("computed", 0), event("counted", 0), event("answered", 1)]
    chosen = []
    while items:
        chosen.append(choose(with_statistics(), items, 4, 4))
        items.remove(chosen[-1])
    assert [each.processor for each in chosen] == ["answered", "counted", "computed"]


@pytest.mark.parametrize(("p", "least"), [("answered", 1), ("counted", 2), ("computed", 2)])
def test_the_thread_that_is_left_is_for_the_answer(p: str, least: int) -> None:
    found = [choose(with_statistics(), [event(p, 0)], threads, 4) for threads in range(4)]
    assert [each is not None for each in found] == [threads >= least for threads in range(4)]


def test_what_takes_no_thread_waits_for_none() -> None:
    assert choose(with_statistics(inline=True), [event("computed", 0)], 0, 4) is not None
    assert choose(with_statistics(inline=False), [event("computed", 0)], 0, 4) is None


def test_no_more_are_chosen_than_there_are_threads_besides_those_that_need_none() -> None:
    items = [event("computed", epoch) for epoch in (3, 1, 2, 0)]
    chosen = turns(Script([[{"v": 1}]])).first(items, 2, 4)
    assert chosen == [event("computed", 0), event("computed", 1)]
    assert [item.time for item in with_statistics(inline=True).first(items, 0, 4)] == [
        (0,),
        (1,),
        (2,),
        (3,),
    ]
