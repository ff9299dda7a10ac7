"""How the driver begins what is enabled: many events for one look, and no thread out of turn."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from falkirk.core.machine.events import Notification, Result
from falkirk.runtime.working import LOOK_AGAIN, Working


class Bench:
    """What a driver asks while it begins: a set of events, some of which it does itself.

    Events of one processor exclude each other. What is done inline leads to ``leads_to``.
    """

    def __init__(self, items: list[Any], inline: str = "", threads: int = 2) -> None:
        self.items, self.inline, self.looks = items, inline, 0
        self.begun: list[Any] = []
        self.leads_to: list[Any] = []
        self.failures = SimpleNamespace(delays=lambda item: False, forget=id)
        self.machine = mine = cast(Any, self)
        self.working = Working(mine, mine, mine, threads)

    def enabled(self) -> list[Any]:
        self.looks += 1
        return [item for item in self.items if self.is_enabled(item)]

    def is_enabled(self, item: Any) -> bool:
        busy = {each.processor for each in self.begun if not self.done(each)}
        return item in self.items and item.processor not in busy

    def done(self, item: Any) -> bool:
        return bool(item.processor[0] in self.inline)

    def first(self, items: list[Any], threads: int, all_threads: int) -> list[Any]:
        own = [item for item in items if self.done(item)]
        others = sorted((i for i in items if not self.done(i)), key=lambda item: item.time)
        return sorted([*own, *others[:threads]], key=lambda item: item.time)

    def may_begin(self, item: Any, threads: int, all_threads: int) -> bool:
        return threads > 0 or self.done(item)

    def begin(self, item: Any) -> Any:
        self.items.remove(item)
        self.begun.append(item)
        return item

    def task(self, item: Any) -> Any:
        return SimpleNamespace(work=item, inline=self.done(item), perform=Result)

    def step(self, event: Any) -> None:
        self.items, self.leads_to = self.items + self.leads_to, []

    def tell(self, function: Any, *args: Any) -> None:
        """What runs beside never comes back."""

    def work(self) -> list[str]:
        self.working.begin_all()
        self.working.close()
        return [f"{item.processor}{item.time[0]}" for item in self.begun]


def event(p: str, epoch: int) -> Notification:
    return Notification(p, (epoch,))  # type: ignore[arg-type]


def test_as_many_are_begun_as_there_are_threads_for_one_look() -> None:
    bench = Bench([event("a", 0), event("b", 1), event("c", 2)])
    assert bench.work() == ["a0", "b1"]
    assert bench.looks == 1


def test_what_the_driver_does_itself_may_lead_to_one_that_comes_first() -> None:
    bench = Bench([event("i", 0), event("c", 2)], inline="i", threads=1)
    bench.leads_to = [event("b", 1)]
    assert bench.work() == ["i0", "b1"], "the only thread is not given away before it looks again"


def test_one_that_another_excludes_is_passed_over_and_its_thread_is_not_idle() -> None:
    bench = Bench([event("a", 0), event("a", 1), event("b", 2)])
    assert bench.work() == ["a0", "b2"]


@pytest.mark.parametrize("count", [LOOK_AGAIN - 1, 3 * LOOK_AGAIN])
def test_who_is_urgent_waits_for_a_few_only(count: int) -> None:
    bench = Bench([event(f"i{n}", 1) for n in range(count)], inline="iu")
    bench.leads_to = [event("urgent", 0)]
    begun = bench.work()
    assert len(begun) == count + 1
    assert begun.index("urgent0") == min(count, LOOK_AGAIN)
