"""Figure 3 and §2.3 on the real machine: Select, Sum and Buffer with interleaved times A and B.

``left`` is still in epoch A when ``right`` has gone on to B, so that their messages interleave.
Select sends its numbers to Sum, and to Buffer as well: Sum speaks only when a time is complete, and
Buffer should see something of B before the sum of A.
"""

from dataclasses import dataclass

from tests.paper.builders import upto
from tests.paper.driver import Story
from tests.paper.flows import flow_of, values

from falkirk.core import EPOCH
from falkirk.core.machine.events import Result
from falkirk.core.policy import ephemeral, lazy
from falkirk.testing.logic import Buffer, Context, Items, Sum

A, B = (0,), (1,)


@dataclass(frozen=True)
class Select:
    """§2.3: it "translates a word into its numeric representation, and is stateless"."""

    def on_message(self, context: Context, edge: str, items: Items) -> Result:
        numbers = tuple(("n", len(word), 0) for word, _, _ in items)
        return Result(context.to_all(numbers))

    def on_notify(self, context: Context) -> Result:
        return Result()


def interleaved() -> Story:
    """Everything up to the dashed line of the figure: no more messages at A will come."""
    flow = flow_of(
        {
            "left": ephemeral(),
            "right": ephemeral(),
            "select": ephemeral(),
            "sum": lazy(),
            "buffer": lazy(),
        },
        words="left > select",
        others="right > select",
        numbers="select > sum",
        seen="select > buffer",
        sums="sum > buffer",
    )
    story = Story(flow, select=Select(), sum=Sum(), buffer=Buffer())
    story.ingest("left", 0, label="one")
    story.deliver("select", "words", A)
    story.close("right")
    story.ingest("right", 0, label="three")
    story.deliver("select", "others", B)
    story.ingest("left", 0, label="four")
    story.deliver("select", "words", A)
    for p, edge in (("sum", "numbers"), ("buffer", "seen")):
        for time in (A, B, A):
            story.deliver(p, edge, time)
    story.close("left")
    return story


def rolled_back() -> tuple[Story, dict[str, list[int]]]:
    """All have saved A; then Sum fails. Also returns the states before that."""
    story = interleaved()
    story.notify("sum", A)
    story.deliver("buffer", "sums", A)
    story.persist_all()
    before = {p: story.whole_state(p) for p in ("sum", "buffer")}
    story.fail("sum")
    return story, before


def test_sum_keeps_a_sum_for_each_time_and_forgets_it_when_notified() -> None:
    """§2.3: "The Sum processor accumulates a separate sum for each logical time. When notified that
    there will be no more messages at a given time, Sum outputs the accumulated sum for that time
    and then removes the sum from its local state".
    """
    story = interleaved()
    assert story.state("sum") == {A: [3, 4], B: [5]}
    assert not story.can_notify("sum", B)
    story.notify("sum", A)
    assert story.state("sum") == {B: [5]}
    assert story.queued("sums") == [A]


def test_the_checkpoint_holds_a_state_that_the_processors_were_never_in() -> None:
    """§2.3: "it saves the state it would contain having seen all time A messages and no time B
    messages. In general this checkpoint may not correspond to a state the processor has previously
    been in".
    """
    story = interleaved()
    states: dict[str, list[list[int]]] = {"sum": [], "buffer": []}

    def look() -> None:
        for p, seen in states.items():
            seen.append(story.whole_state(p))

    look()
    story.notify("sum", A)
    look()
    story.deliver("buffer", "sums", A)
    look()
    story.persist_all()
    for p, seen in states.items():
        (checkpoint,) = story.saved(p)
        assert checkpoint.checkpoint.frontier == upto(0)
        held = [v for record in checkpoint.records for v in values(record.state)]
        assert sorted(held) not in seen, f"{p} never was in the state {held}"
    assert states["sum"][-1] == [5], "it always had something of B by then"
    assert story.store.ledgers["sum"].state(A) == []
    assert values(story.store.ledgers["buffer"].state(A)) == [3, 4, 7]


def test_often_no_checkpoint_need_be_saved() -> None:
    """§2.3: "It is thus desirable to allow a processor to wait until time t is complete before
    checkpointing the portion of local state that corresponds to t. Often this means no checkpoint
    need be saved".
    """
    story = interleaved()
    story.notify("sum", A)
    (checkpoint,) = story.saved("sum")
    assert all(not record.state for record in checkpoint.records)
    assert story.saved("select") == [], "a stateless processor does not even write that much"


def test_rollback_keeps_a_and_redoes_b() -> None:
    """Figure 3: "Processors roll back to a state where they have consumed all messages at A and
    none at B".
    """
    story, _ = rolled_back()
    kept = dict.fromkeys(("right", "select", "sum", "buffer"), upto(0))
    assert story.plan == {**kept, "left": EPOCH.top}, "left has done nothing at B"
    assert story.state("sum") == {}
    assert values(story.machine.state.ledgers["buffer"].state(A)) == [3, 4, 7]
    assert story.whole_state("buffer") == [3, 4, 7]
    story.chapter()
    story.settle()
    assert {time for _, time in story.chapter()} == {B}, "nothing of A is done again"


def test_in_the_end_the_state_is_what_it_was() -> None:
    """§2.3: "Subsequently an upstream processor is re-executed, causing the time B message to be
    re-sent, and eventually the state of the system returns to that before the rollback".
    """
    story, before = rolled_back()
    story.settle()
    assert before == {"sum": [5], "buffer": [3, 4, 5, 7]}
    assert {p: story.whole_state(p) for p in before} == before
    story.close("left", "right")
    story.settle()
    assert story.whole_state("buffer") == [3, 4, 5, 5, 7], "and the sum of B comes as ever"


def test_a_failure_of_everything_ends_in_the_same_state() -> None:
    story, before = rolled_back()
    story.settle()
    assert story.crash() == dict.fromkeys(story.flow.processors, upto(0))
    story.settle()
    assert {p: story.whole_state(p) for p in before} == before


def test_without_a_checkpoint_sum_restarts_from_the_beginning() -> None:
    story = interleaved()
    story.notify("sum", A)
    story.deliver("buffer", "sums", A)
    assert set(story.fail("sum").values()) == {EPOCH.empty}
    story.settle()
    assert story.whole_state("buffer") == [3, 4, 5, 7]
