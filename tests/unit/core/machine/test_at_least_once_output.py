"""An at-least-once output shows complete times at once, and saves what was taken (§4.3)."""

from falkirk.core import EPOCH, Edge, Identity
from falkirk.core.machine.engine import Machine
from falkirk.core.machine.events import (
    Acknowledge,
    Close,
    Collect,
    CollectLog,
    Effect,
    Event,
    Fail,
    Finish,
    Ingest,
    Persist,
    Persisted,
    Release,
    Result,
    Retract,
)
from falkirk.core.machine.flow import Flow, Processor, Role
from falkirk.core.machine.rules import ALL_RULES, Rules
from falkirk.core.policy import Policy, at_least_once, ephemeral, lazy
from falkirk.testing.store import SimulatedStore


def flow_with(step: Policy) -> Flow:
    """An input, a step and an at-least-once output."""
    return Flow(
        [
            Processor("in", EPOCH, lazy(), Role.INPUT),
            Processor("step", EPOCH, step),
            Processor("out", EPOCH, at_least_once(), Role.OUTPUT),
        ],
        [
            Edge("e", "in", "step", Identity(EPOCH, EPOCH)),
            Edge("f", "step", "out", Identity(EPOCH, EPOCH)),
        ],
    )


class Story:
    """A machine whose writes and releases wait until the story goes on with them."""

    def __init__(self, step: Policy | None = None, rules: Rules = ALL_RULES) -> None:
        self.flow, self.rules = flow_with(step or ephemeral()), rules
        self.store = SimulatedStore(self.flow, rules)
        self.machine = Machine(self.flow, rules=rules)
        self.writes: list[Persist] = []
        self.released: list[Release] = []
        self.acknowledged: list[Acknowledge] = []

    def tell(self, event: Event) -> None:
        self.carry_out(self.machine.step(event))

    def carry_out(self, effects: list[Effect]) -> None:
        for effect in effects:
            match effect:
                case Persist():
                    self.writes.append(effect)
                case Release():
                    self.released.append(effect)
                case Acknowledge():
                    self.acknowledged.append(effect)
                case Collect() | CollectLog():
                    self.store.collect(effect)
                case Retract():
                    self.store.retract(effect)

    def read(self, rows: str, position: int) -> None:
        self.tell(Ingest("in", rows, position))
        self.tell(Close("in"))

    def work(self) -> None:
        while items := self.machine.enabled():
            work = self.machine.begin(items[0])
            batch = items[0].message.batch
            if work.processor == "step":
                self.tell(Finish(work, Result(sends=(("f", work.time, batch),))))
            else:
                staged = (*self.machine.own_state(work), batch)
                self.tell(Finish(work, Result(state=staged)))

    def write(self) -> None:
        while self.writes:
            effect = self.writes.pop(0)
            self.store.commit(effect)
            self.tell(Persisted(effect.ticket))

    def take(self) -> None:
        self.tell(self.released.pop(0).taken)

    def crash(self) -> None:
        self.writes, self.released = [], []
        stored = {p: self.store.read(p) for p in self.flow.processors}
        self.machine = Machine(self.flow, stored, self.rules)
        self.carry_out(self.machine.effects)

    def fail(self, p: str) -> None:
        self.tell(Fail(frozenset([p]), {p: self.store.read(p)}))

    @property
    def shown(self) -> list[tuple[int, tuple[str, ...]]]:
        return [(release.time[0], release.batches) for release in self.released]


def test_a_time_is_shown_when_it_is_complete_and_before_anything_is_durable() -> None:
    story = Story()
    story.read("rows", 1)
    story.work()
    assert story.shown == [(0, ("rows",))]
    assert [write.processor for write in story.writes] == ["in"]


def test_nothing_is_acknowledged_before_the_outside_has_it() -> None:
    story = Story()
    story.read("rows", 1)
    story.work()
    story.write()
    assert story.acknowledged == []
    story.take()
    assert [write.processor for write in story.writes] == ["out"]
    assert [write.records for write in story.writes] == [()]
    story.write()
    assert story.acknowledged == [Acknowledge("in", EPOCH.frontier([(0,)]))]


def test_a_crash_before_it_was_taken_shows_it_again() -> None:
    story = Story()
    story.read("rows", 1)
    story.work()
    story.write()
    story.crash()
    assert story.shown == []
    assert story.machine.position("in") is None
    story.read("rows", 1)
    story.work()
    assert story.shown == [(0, ("rows",))]


def test_without_the_rule_a_crash_loses_it() -> None:
    story = Story(rules=Rules(announce_taken=False))
    story.read("rows", 1)
    story.work()
    story.write()
    story.crash()
    assert story.machine.position("in") == 1
    assert story.shown == []


def test_a_crash_after_it_was_saved_as_taken_does_not() -> None:
    story = Story()
    story.read("rows", 1)
    story.work()
    story.write()
    story.take()
    story.write()
    story.crash()
    assert story.shown == []
    assert story.machine.position("in") == 1


def test_later_times_are_taken_first_and_the_checkpoint_waits() -> None:
    story = Story()
    for position in range(1, 4):
        story.read(f"rows {position}", position)
    story.work()
    story.write()
    first = story.released.pop(0)
    story.take()
    story.take()
    assert story.writes == []
    story.tell(first.taken)
    assert [write.checkpoint.frontier for write in story.writes] == [EPOCH.frontier([(2,)])]


def test_what_was_taken_before_a_failure_does_not_count_for_what_is_shown_after() -> None:
    story = Story()
    story.read("rows", 1)
    story.work()
    story.write()
    before = story.released.pop()
    story.fail("out")
    story.read("rows again", 1)
    story.work()
    assert story.shown == [(0, ("rows again",))]
    story.tell(before.taken)
    assert story.writes == [] or all(write.processor == "in" for write in story.writes)
    story.take()
    assert [write.processor for write in story.writes][-1:] == ["out"]


def test_a_sender_that_went_back_shows_its_rows_a_second_time() -> None:
    story = Story(lazy(every=5))
    story.read("rows", 1)
    story.work()
    story.fail("step")
    story.read("rows again", 1)
    story.work()
    assert story.shown == [(0, ("rows",))], "one after the other"
    story.take()
    assert story.shown == [(0, ("rows again",))]
    assert all(write.processor != "out" for write in story.writes)
    story.take()
    assert [write.processor for write in story.writes][-1:] == ["out"]
