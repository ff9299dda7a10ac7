"""How the driver begins what is enabled: many events for one look, and no thread out of turn."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from falkirk.core.machine.events import Notification, Result
from falkirk.runtime.working import LOOK_AGAIN, LOOK_WORTH, Working


class Bench:
    """What a driver asks while it begins: a set of events, some of which it does itself.

    Events of one processor exclude each other. What is done inline leads to ``leads_to``.
    """

    def __init__(self, items: list[Any], inline: str = "", threads: int = 2) -> None:
        self.items, self.own, self.looks = items, inline, 0
        self.begun: list[Any] = []
        self.leads_to: list[Any] = []
        self.awaited: list[str] = []
        self.behind: list[Any] = []
        self.made: list[Any] = []
        self.raised: list[Any] = []
        self.running, self.state = {1}, self
        self.failures = SimpleNamespace(delays=lambda item: False, forget=id, raised=self.failed)
        self.machine = mine = cast(Any, self)
        self.working = Working(mine, mine, mine, threads)

    def enabled(self) -> list[Any]:
        self.looks += 1
        return [item for item in self.items if self.is_enabled(item)]

    def is_enabled(self, item: Any) -> bool:
        busy = {each.processor for each in self.begun if not self.done(each)}
        return item in self.items and item.processor not in busy

    def done(self, item: Any) -> bool:
        return bool(item.processor[0] in self.own)

    def first(self, items: list[Any], threads: int, all_threads: int, more: int) -> list[Any]:
        own = [item for item in items if self.done(item)]
        others = sorted((i for i in items if not self.done(i)), key=lambda item: item.time)
        return sorted([*own, *others[: threads + more]], key=lambda item: item.time)

    def may_begin(self, item: Any, threads: int, all_threads: int) -> bool:
        return threads > 0 or self.done(item)

    def inline(self, item: Any) -> bool:
        return self.done(item)

    def successor(self, item: Any) -> Any:
        """Not enabled before it."""
        if self.behind:
            self.items.append(self.behind.pop(0))
            return self.items[-1]
        return None

    def begin(self, item: Any) -> Any:
        self.items.remove(item)
        self.begun.append(item)
        return item

    def task(self, item: Any) -> Any:
        context = SimpleNamespace(made=lambda: self.made)
        return SimpleNamespace(
            work=SimpleNamespace(number=1), inline=self.done(item), perform=Result, context=context
        )

    def failed(self, task: Any, error: Exception) -> None:
        self.raised.append(error)

    def step(self, event: Any) -> None:
        self.items, self.leads_to = self.items + self.leads_to, []

    def tell(self, function: Any, *args: Any) -> None:
        """What runs beside never comes back."""

    def work(self) -> list[str]:
        self.working.begin_all()
        self.working.close()
        return [f"{item.processor}{item.time[0]}" for item in self.begun]

    def works_off(self, count: int) -> list[str]:
        """Begins, and lets what was begun end, one by one, so many times."""
        self.working.submit = self.busy  # type: ignore[method-assign]
        for _ in range(count):
            self.working.begin_all()
            self.working.busy -= 1
        return self.work()

    def busy(self, function: Any, *args: Any) -> None:
        self.working.busy += 1


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


@pytest.mark.parametrize("count", [LOOK_AGAIN - 1, 3 * LOOK_AGAIN, 20 * LOOK_WORTH])
@pytest.mark.parametrize("awaited", [[], ["answers"]])
def test_who_is_urgent_waits_for_a_few_only(count: int, awaited: list[str]) -> None:
    """A few more where a look at all takes longer, and nobody waits for answers."""
    bench = Bench([event(f"i{n}", 1) for n in range(count)], inline="iu")
    bench.awaited, bench.leads_to = awaited, [event("urgent", 0)]
    begun = bench.work()
    assert len(begun) == count + 1
    more = 0 if awaited else count // LOOK_WORTH
    assert begun.index("urgent0") == min(count, LOOK_AGAIN + more)


@pytest.mark.parametrize("lost", [False, True])
def test_what_was_lost_before_it_counted_was_not_done(lost: bool) -> None:
    bench = Bench([event("i", 0)], inline="i")
    bench.made = [SimpleNamespace(content=SimpleNamespace(lost=each)) for each in (False, lost)]
    bench.leads_to = [event("behind", 1)]
    assert bench.work() == (["i0"] if lost else ["i0", "behind1"])
    assert len(bench.raised) == lost


def many(count: int = 10 * LOOK_WORTH) -> list[Notification]:
    return [event(f"p{n}-", n) for n in range(count)]


@pytest.fixture
def no_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """A look holds until it is used up."""
    monkeypatch.setattr("falkirk.runtime.working.LOOK_SECONDS", float("inf"))


@pytest.mark.usefixtures("no_hurry")
def test_a_look_at_many_serves_for_threads_that_are_free_later() -> None:
    bench = Bench(many(), threads=1)
    assert bench.works_off(11) == [f"p{n}-{n}" for n in range(12)], "in their order"
    assert bench.looks == 2, "one has chosen eleven"


def test_it_does_not_when_that_is_long_ago(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("falkirk.runtime.working.LOOK_SECONDS", 0.0)
    bench = Bench(many(), threads=1)
    bench.works_off(4)
    assert bench.looks == 5


@pytest.mark.usefixtures("no_hurry")
def test_it_does_not_where_somebody_waits_for_answers_or_they_are_few() -> None:
    waiting, few = Bench(many(), threads=1), Bench(many(LOOK_WORTH - 1), threads=1)
    waiting.awaited = ["answers"]
    for bench in (waiting, few):
        bench.works_off(4)
        assert bench.looks == 5


@pytest.mark.usefixtures("no_hurry")
def test_what_was_chosen_and_may_no_longer_begin_is_left_out() -> None:
    """After a rollback, say: then there is another look, and the thread is not idle."""
    bench = Bench(many(2 * LOOK_WORTH), threads=1)
    bench.works_off(1)
    del bench.items[0]
    bench.working.busy = 0
    bench.working.begin_all()
    assert [item.processor for item in bench.begun] == ["p0-", "p1-", "p3-"]
    assert bench.looks == 2


def test_messages_in_a_row_take_no_look_each() -> None:
    bench = Bench([event("i", 0)], inline="iu")
    bench.behind = [event("i", 0)] * (LOOK_AGAIN + 2)
    bench.leads_to = [event("urgent", -1)]
    begun = bench.work()
    assert begun == ["i0"] * LOOK_AGAIN + ["urgent-1"] + ["i0"] * 3, "who is urgent waits for a few"
    assert bench.looks == 3


def test_a_row_ends_where_one_needs_a_thread_or_must_wait() -> None:
    bench = Bench([event("i", 0)], inline="i", threads=1)
    bench.working.busy = 1
    bench.behind = [event("spark", 0)]
    assert bench.work() == ["i0"]
    delayed = Bench([event("i", 0)], inline="i")
    delayed.behind = [event("i", 1)]
    delayed.failures.delays = lambda item: item.time == (1,)
    assert delayed.work() == ["i0"]
