"""Beyond the paper: a checkpoint that was taken because its times are complete is a notification.

§3.5 introduces notification frontiers with Figure 5: x was *notified* of time 1, and after a
rollback a message at time 1 must not reach it. §4.1 has stateful processors "periodically (lazily)
informed when new times become complete", and they "can choose to selectively checkpoint". Such a
processor has received no notification, so its N̄ is ∅ by the definition of §3.4. But a checkpoint of
f says that all of f has been delivered, and a message inside f that comes later breaks that just as
it would break a notification. So N̄(p, f) counts f itself.

The smallest case: ``maybe`` behaves like p and q of Figure 5. When notified, it may send or not.
"""

from dataclasses import dataclass

from tests.paper.builders import upto
from tests.paper.driver import Story
from tests.paper.flows import flow_of, items

from falkirk.core import EPOCH
from falkirk.core.machine.events import Result
from falkirk.core.machine.rules import ALL_RULES, Rules
from falkirk.core.policy import batch, lazy
from falkirk.testing.logic import Buffer, Context, Items

ZERO, TOP, NOTHING = (0,), EPOCH.top, EPOCH.empty
WITHOUT = Rules(notification_constraint=False)


@dataclass
class Maybe:
    """Sends nothing when it is notified first, and something the second time."""

    notified: int = 0

    def on_message(self, context: Context, edge: str, given: Items) -> Result:
        return Result(requests=(context.time,))

    def on_notify(self, context: Context) -> Result:
        self.notified += 1
        return Result(context.to_all(items(1)) if self.notified > 1 else ())


def rolled_back(rules: Rules = ALL_RULES) -> Story:
    """``keep`` has a durable checkpoint of epoch 0 and was never notified; ``maybe`` fails."""
    flow = flow_of(
        {"in": batch(), "maybe": lazy(), "keep": lazy()}, a="in > maybe", b="maybe > keep"
    )
    story = Story(flow, rules, maybe=Maybe(), keep=Buffer())
    story.ingest("in", 1)
    story.close("in")
    story.work()
    story.persist_all("in", "keep")
    assert story.queued("b") == [], "nothing was sent"
    story.fail("maybe")
    return story


def test_by_the_letter_of_the_paper_the_receiver_was_not_notified() -> None:
    """§3.4: N̄(p,f) = ↓{t : t ∈ N(p,f)}, "the sequence of notifications processed by p"."""
    story = rolled_back(WITHOUT)
    exact = story.machine.state.ledgers["keep"].metadata(upto(0))
    assert exact.notified == NOTHING
    assert exact.processed == {"b": NOTHING}, "nor did it get a message: nothing binds it to maybe"


def test_without_the_rule_a_message_comes_inside_the_checkpoint() -> None:
    story = rolled_back(WITHOUT)
    assert story.plan == {"in": TOP, "maybe": NOTHING, "keep": TOP}
    story.work("maybe")
    assert story.queued("b") == [ZERO]
    (row,) = story.store.checkpoints["keep"]
    assert ZERO in row.frontier, "a message that its durable checkpoint says cannot come"
    story.deliver("keep", "b", ZERO)
    story.persist_all()
    assert story.whole_state("keep") == [1]
    story.crash()
    story.settle()
    assert story.whole_state("keep") == [], "and so, after the next failure, it is lost"


def test_with_the_rule_the_receiver_gives_up_its_checkpoint() -> None:
    story = rolled_back()
    assert story.plan == {"in": TOP, "maybe": NOTHING, "keep": NOTHING}
    (reason,) = story.reasons["keep"]
    assert (reason.constraint, reason.edge) == ("notification-projection", "b")
    assert story.store.checkpoints["keep"] == []
    story.settle()
    assert story.whole_state("keep") == [1]
    story.crash()
    story.settle()
    assert story.whole_state("keep") == [1]


def test_a_checkpoint_reports_its_own_frontier_as_notified() -> None:
    story = rolled_back()
    (persist, *_) = story.saved("keep")
    assert persist.checkpoint.notified == upto(0)


def test_once_maybe_is_durable_nobody_goes_back() -> None:
    story = rolled_back()
    story.settle()
    plan = story.fail("maybe")
    assert plan == {"in": TOP, "maybe": upto(0), "keep": TOP}
