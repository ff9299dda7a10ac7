"""§3.2 on the real machine: bridges between epochs and sequence numbers."""

from dataclasses import dataclass
from itertools import product

from tests.paper.builders import upto
from tests.paper.driver import Story
from tests.paper.flows import flow_of, values

from falkirk.core import EPOCH, Sequence, SequenceFrontier, SequenceNumber
from falkirk.core.machine.events import Result
from falkirk.core.policy import batch, eager, lazy
from falkirk.testing.logic import Context, Items, Map, Stage, Sum


@dataclass(frozen=True)
class Windows:
    """Puts every two messages of its input into an epoch, and closes it behind them."""

    out: str
    size: int = 2

    def on_message(self, context: Context, edge: str, items: Items) -> Result:
        epoch, last = divmod(context.time.number - 1, self.size)
        closes = ((self.out, epoch),) if last == self.size - 1 else ()
        return Result(((self.out, (epoch,), items),), closes=closes)

    def on_notify(self, context: Context) -> Result:
        return Result()


def bridged() -> Story:
    """in (epochs) → ledger (sequence numbers) → windows → sum (epochs again) → out."""
    flow = flow_of(
        {"in": batch(), "ledger": eager(), "windows": eager(), "sum": lazy(), "out": lazy()},
        outputs=["out"],
        domains={"ledger": Sequence(), "windows": Sequence()},
        a="in > ledger",
        b="ledger > windows",
        c="windows > sum",
        d="sum > out",
    )
    return Story(flow, ledger=Map(0), windows=Windows("c"), sum=Sum(), out=Stage())


def nth(edge: str, number: int) -> SequenceNumber:
    return SequenceNumber(edge, number)


def test_epochs_become_sequence_numbers() -> None:
    """§3.2: "Suppose that in total p receives 73 messages in epoch 1, we could choose
    φ(e)({1}) = {1,…,73}".
    """
    story = bridged()
    for count in (3, 2):
        for value in range(count):
            story.ingest("in", value)
        story.close("in")
    assert story.queued("a") == [nth("a", n) for n in range(1, 6)]
    fixed = [persist.checkpoint.projected["a"] for persist in story.saved("in")]
    assert fixed == [upto(3), upto(5)]


def test_sequence_numbers_become_epochs() -> None:
    """§3.2: "A similar transformer could translate from sequence numbers to epochs, for example to
    construct epochs from sets of messages received at a processor within particular windows".
    """
    story = bridged()
    for value in (1, 2, 3, 4, 5):
        story.ingest("in", value)
    story.close("in")
    story.settle()
    assert {time: values(shown) for time, shown in story.shown["out"].items()} == {
        (0,): [3],
        (1,): [7],
    }, "the third window is still open"
    checkpoints = [persist.checkpoint for persist in story.saved("windows")]
    fixed = [checkpoint.projected["c"] for checkpoint in checkpoints]
    assert fixed == [EPOCH.empty, upto(0), upto(0), upto(1), upto(1)]


def test_no_notification_comes_while_a_window_is_open() -> None:
    story = bridged()
    story.ingest("in", 1)
    story.ingest("in", 2)
    story.work("ledger")
    story.persist_all()
    story.deliver("windows", "b", nth("b", 1))
    story.persist_all()
    story.deliver("sum", "c", (0,))
    assert not story.can_notify("sum", (0,))
    story.deliver("windows", "b", nth("b", 2))
    story.persist_all()
    story.deliver("sum", "c", (0,))
    assert story.can_notify("sum", (0,))


def test_a_failure_at_either_end_is_not_seen_outside() -> None:
    for failed, steps in product(("in", "ledger", "windows", "sum", "out", "all"), range(0, 30, 3)):
        story = bridged()
        for value in (1, 2, 3, 4):
            story.ingest("in", value)
        story.close("in")
        for _ in range(steps):
            story.one_step()
        if failed == "all":
            story.crash()
        else:
            story.fail(failed)
        story.settle()
        shown = {time: values(batch) for time, batch in story.shown["out"].items()}
        assert shown == {(0,): [3], (1,): [7]}, (failed, steps)


def delivered(messages: int) -> Story:
    """So many messages went through ``ledger`` and ``windows``, and what came of them further."""
    story = bridged()
    for value in range(messages):
        story.ingest("in", value)
    for p, edge in (("ledger", "a"), ("windows", "b")):
        for number in range(1, messages + 1):
            story.deliver(p, edge, nth(edge, number))
            story.persist_all()
    story.work("sum", "out")
    return story


def test_a_closed_window_is_fixed_by_the_messages_that_closed_it() -> None:
    story = delivered(2)
    plan = story.fail("windows")
    assert plan["windows"] == SequenceFrontier({"b": 2})
    assert plan["sum"] == plan["out"] == EPOCH.top


def test_an_open_window_is_not() -> None:
    """``sum`` has a message of epoch 1, at which anything may still be sent."""
    story = delivered(3)
    plan = story.fail("windows")
    assert plan["windows"] == SequenceFrontier({"b": 3})
    assert plan["sum"] == EPOCH.empty, "nothing of it was durable"
    story.settle()
    story.close("in")
    story.ingest("in", 9)
    story.close("in")
    story.settle()
    shown = {time: values(batch) for time, batch in story.shown["out"].items()}
    assert shown == {(0,): [1], (1,): [11]}
