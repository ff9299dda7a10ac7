"""§3 on the real machine: the order of deliveries, and when a checkpoint may be taken."""

from dataclasses import dataclass

from tests.paper.builders import upto
from tests.paper.driver import Story
from tests.paper.flows import flow_of, items

from falkirk.core import EPOCH, Structured
from falkirk.core.machine.events import Delivery, Result
from falkirk.core.policy import batch, ephemeral, lazy
from falkirk.testing.crossing import Turn
from falkirk.testing.logic import Buffer, Context, Delay, Items, Map, Sum

LOOP = Structured(2)
NOTHING = EPOCH.empty


# §3.3: message re-ordering.


def interleaved() -> Story:
    """p forwards epoch 1 of one input before epoch 0 of the other."""
    flow = flow_of(
        {"slow": batch(), "fast": batch(), "p": ephemeral(), "q": lazy()},
        a="slow > p",
        b="fast > p",
        c="p > q",
    )
    story = Story(flow, p=Map(0), q=Buffer())
    story.close("fast")
    for value in (10, 11):
        story.ingest("fast", value)
        story.deliver("p", "b", (1,))
    for value in (1, 2):
        story.ingest("slow", value)
        story.deliver("p", "a", (0,))
    return story


def test_a_message_may_overtake_those_that_are_not_at_or_before_its_time() -> None:
    """§3.3: "p is at liberty to choose to remove and process from e any message m_i where
    time(m_j) ≰ time(m_i) ∀ j<i".
    """
    story = interleaved()
    assert story.queued("c") == [(1,), (1,), (0,), (0,)]
    offered = [item.message.batch for item in story.enabled("q") if isinstance(item, Delivery)]
    assert offered == [items(10), items(1)], "the first of either epoch, and no other"
    story.deliver("q", "c", (0,))
    story.deliver("q", "c", (0,))
    story.deliver("q", "c", (1,))
    assert story.state("q") == {(0,): [1, 2], (1,): [10]}


def test_so_it_can_be_rolled_back_to_all_of_an_epoch_and_nothing_later() -> None:
    """§3.3: "roll p back to a state in which it has processed all the epoch 1 events and none from
    later epochs, independent of the order that the messages appeared on e".
    """
    for order in [((1,), (0,), (0,), (1,)), ((0,), (1,), (1,), (0,))]:
        story = interleaved()
        for time in order:
            story.deliver("q", "c", time)
        story.close("slow")
        story.persist_all()
        assert story.fail("q")["q"] == upto(0)
        assert story.state("q") == {(0,): [1, 2]} or story.state("q") == {None: [1, 2]}
        story.settle()
        assert story.whole_state("q") == [1, 2, 10, 11]


def test_two_times_of_one_processor_may_be_worked_on_at_once_but_one_time_only_once() -> None:
    story = interleaved()
    story.begin_delivery("q", "c", (1,))
    story.begin_delivery("q", "c", (0,))
    assert story.enabled("q") == []


# §3.5, the first constraint.


def test_no_checkpoint_while_a_message_inside_may_arrive() -> None:
    """§3.5: "This restriction can be satisfied by saving a checkpoint for frontier f only after all
    the times in f are complete at p".
    """
    flow = flow_of(
        {"l": batch(), "r": batch(), "p": batch(), "q": lazy()},
        a="l > p",
        b="r > q",
        c="p > q",
    )
    story = Story(flow, p=Map(0), q=Buffer())
    story.ingest("r", 1)
    story.ingest("l", 2)
    story.close("r")
    story.deliver("q", "b", (0,))
    assert story.saved("q") == [], "l is still in epoch 0"
    story.close("l")
    assert story.saved("q") == [], "its message is still on its way to p"
    work = story.begin_delivery("p", "a", (0,))
    assert story.saved("q") == [], "p is working on it"
    story.finish(work)
    assert story.saved("q") == [], "now it is on its way to q"
    work = story.begin_delivery("q", "c", (0,))
    assert story.saved("q") == []
    story.finish(work)
    assert [persist.checkpoint.frontier for persist in story.saved("q")] == [upto(0)]


def test_no_checkpoint_while_a_notification_inside_is_due() -> None:
    flow = flow_of({"in": batch(), "sum": lazy(), "q": lazy()}, a="in > sum", b="sum > q")
    story = Story(flow, sum=Sum(), q=Buffer())
    story.ingest("in", 1)
    story.deliver("sum", "a", (0,))
    story.close("in")
    assert story.saved("sum") == story.saved("q") == []
    story.notify("sum", (0,))
    assert len(story.saved("sum")) == 1
    assert story.saved("q") == [], "the sum is on its way"


def test_a_message_going_around_a_loop_holds_everything_behind_it() -> None:
    flow = flow_of(
        {"in": batch(), "body": lazy(round_seconds=0), "after": lazy()},
        domains={"body": LOOP},
        i="in > body by enter",
        f="body > body by feedback",
        o="body > after by leave",
    )
    story = Story(flow, body=Turn("f"), after=Buffer())
    story.ingest("in", 2)
    story.close("in")
    story.deliver("body", "i", (0, 0))
    saved = [persist.checkpoint.frontier for persist in story.saved("body")]
    assert saved == [LOOP.frontier([(0, 0)])], "the first turn is complete"
    assert story.saved("after") == []
    story.deliver("body", "f", (0, 1))
    story.deliver("body", "f", (0, 2))
    assert story.saved("after") == []
    story.deliver("after", "o", (0,))
    assert len(story.saved("after")) == 1


# §3.4: sends into the future.


@dataclass(frozen=True)
class Leap:
    """Inside a loop, sends three turns ahead."""

    def on_message(self, context: Context, edge: str, given: Items) -> Result:
        epoch, turn = context.time
        return Result((("around", (epoch, turn + 3), given),) if turn < 3 else ())

    def on_notify(self, context: Context) -> Result:
        return Result()


def test_what_is_sent_into_the_future_is_counted_among_the_discarded() -> None:
    """§3.4: "processors that send "into the future," like some differential dataflow processors,
    must explicitly keep track of which times they have discarded messages for".
    """
    flow = flow_of(
        {"in": batch(), "leap": lazy(round_seconds=0)},
        domains={"leap": Structured(2)},
        a="in > leap by enter",
        around="leap > leap by feedback",
    )
    story = Story(flow, leap=Leap())
    story.ingest("in", 5)
    story.close("in")
    story.deliver("leap", "a", (0, 0))
    (persist,) = story.saved("leap")
    assert persist.checkpoint.frontier == upto(0, 1), "the roundest of those that can't change"
    assert persist.checkpoint.discarded == {"around": upto(0, 3)}
    story.persist_all()
    assert story.watermark("leap") == NOTHING, "if it failed, it would have to send turn 3 again"
    assert story.fail("leap")["leap"] == NOTHING
    story.settle()
    assert story.chapter() == [("leap", (0, 0)), ("leap", (0, 0)), ("leap", (0, 3))]


def test_what_is_sent_to_a_later_epoch_is_logged() -> None:
    """If it were discarded, epoch 0 of the sender would need epoch 1 of the receiver, that needs
    epoch 1 of the sender, and so on: nobody would have a low-watermark.
    """
    flow = flow_of({"in": batch(), "delay": lazy(), "q": lazy()}, a="in > delay", b="delay > q")
    story = Story(flow, delay=Delay(), q=Buffer())
    story.ingest("in", 5)
    story.close("in")
    story.work("delay")
    (persist,) = story.saved("delay")
    assert persist.checkpoint.frontier == upto(0)
    assert persist.checkpoint.discarded == {"b": upto(0)}
    story.work("q")
    story.persist_all()
    assert story.watermark("delay") == upto(0)
    assert story.logged("b") == [(1,)]
    plan = story.fail("q")
    assert plan["delay"].is_top
    assert story.queued("b") == [(1,)]
    story.settle()
    assert sorted(story.whole_state("q")) == [5, 5]


def test_logged_they_can_be_sent_again() -> None:
    flow = flow_of(
        {"in": batch(), "delay": lazy().logging("b"), "q": lazy()}, a="in > delay", b="delay > q"
    )
    story = Story(flow, delay=Delay(), q=Buffer())
    story.ingest("in", 5)
    story.close("in")
    story.work()
    story.persist_all()
    plan = story.fail("q")
    assert plan == {"in": EPOCH.top, "delay": EPOCH.top, "q": upto(0)}
    assert story.queued("b") == [(1,)]
