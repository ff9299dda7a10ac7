"""§2.1 on the real machine: low-watermarks of the wall clock, as messages on a virtual edge.

The paper's footnote on MillWheel: its notifications say that no more events are expected before
some wall-clock time, which is a guess and not a logical time being complete, so they are modelled
as messages. Here the guesses come in at an input of their own. They are logged, ordered and rolled
back like all messages, so a window is closed by the same guess again after a failure.
"""

from dataclasses import dataclass

import pytest
from tests.paper.driver import Story
from tests.paper.flows import flow_of

from falkirk.core.machine.events import Result
from falkirk.core.policy import Policy, batch, eager, lazy
from falkirk.testing.logic import Context, Items, Stage

SIZE = 10


@dataclass(frozen=True)
class Windows:
    """Counts events by windows of the wall clock; a notice closes those that lie before it.

    Events are values on ``events``: the second at which they happened. What comes later than the
    notice that closed its window is late, and is counted as such.
    """

    def on_message(self, context: Context, edge: str, given: Items) -> Result:
        kind = "event" if edge == "events" else "notice"
        kept = tuple((kind, value, 0) for _, value, _ in given)
        return Result(requests=(context.time,), state=tuple(sorted(context.own + kept)))

    def on_notify(self, context: Context) -> Result:
        """All events and notices of the epoch are here: in what order they came is no matter."""
        notices = [value for kind, value, _ in context.visible if kind == "notice"]
        own = [value for kind, value, _ in context.own if kind == "notice"]
        now, before = max(notices, default=0), max((n for n in notices if n not in own), default=0)
        seen = [value // SIZE for kind, value, _ in context.visible if kind == "event"]
        closed = range(before // SIZE, now // SIZE)
        return Result(context.to_all(tuple((f"w{w}", seen.count(w), 0) for w in closed)))


def story_of(policy: Policy) -> Story:
    flow = flow_of(
        {"sensors": batch(), "guesses": batch(), "windows": policy, "out": eager()},
        outputs=["out"],
        events="sensors > windows",
        notices="guesses > windows",
        counts="windows > out",
    )
    return Story(flow, windows=Windows(), out=Stage())


SCRIPT = (((3, 7), (5,)), ((12,), (11,)), ((14, 8), (16,)), ((25,), (29,)))
"""In every epoch some events, and the guess up to when they are all here. 8 comes too late."""
EXPECTED = {(1,): {"w0": 2}, (3,): {"w1": 2}}


def tell(story: Story, epoch: int) -> None:
    events, notices = SCRIPT[epoch]
    story.ingest("sensors", *events)
    story.ingest("guesses", *notices)
    story.close("sensors", "guesses")


def shown(story: Story) -> dict[object, dict[str, int]]:
    return {
        time: {label: count for label, count, _ in items}
        for time, items in story.shown["out"].items()
        if items
    }


def test_a_notice_closes_windows() -> None:
    story = story_of(lazy())
    for epoch in range(len(SCRIPT)):
        tell(story, epoch)
        story.settle()
    assert shown(story) == EXPECTED


@pytest.mark.parametrize("policy", [lazy(), lazy(2), eager()], ids=["lazy", "lazy2", "eager"])
@pytest.mark.parametrize("failed", ["windows", "guesses", "everything"])
def test_after_a_failure_the_same_notice_closes_the_same_window(
    policy: Policy, failed: str
) -> None:
    """A guess that was used is a message that was processed: it cannot turn out otherwise."""
    for steps in range(24):
        story = story_of(policy)
        for epoch in range(len(SCRIPT)):
            tell(story, epoch)
        for _ in range(steps):
            story.one_step()
        story.take_outputs()
        if failed == "everything":
            story.crash()
        else:
            story.fail(failed)
        story.settle()
        assert shown(story) == EXPECTED, steps


def test_notices_do_not_hold_up_progress() -> None:
    """Epochs are complete when their inputs say so, whatever the clock has been guessed to be."""
    story = story_of(lazy())
    story.ingest("sensors", 3)
    story.close("sensors", "guesses")
    story.settle()
    assert (0,) in story.watermark("windows")
