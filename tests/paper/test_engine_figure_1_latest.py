"""Figure 1 on the real machine: queries joined with the newest output of a periodic batch.

§1: "User queries arrive at the top left and are joined with two sets of data: the output of a
periodic batch computation" … "since the results of the computation are never required to be fresh".
The batch sums up its records and ends in ``table``; what that releases is a version, which comes to
``join`` by way of ``versions``, at the epoch that is open for queries.
"""

from dataclasses import dataclass

import pytest
from tests.paper.driver import Story
from tests.paper.flows import flow_of, values

from falkirk.core import EPOCH, DefinitionError
from falkirk.core.machine.events import Result
from falkirk.core.machine.flow import Latest
from falkirk.core.policy import batch, ephemeral, lazy
from falkirk.testing.logic import Context, Items, Stage, Sum


@dataclass(frozen=True)
class Join:
    """Answers each query with 100 times its value and the newest version."""

    def on_message(self, context: Context, edge: str, items: Items) -> Result:
        if edge == "fresh":
            return Result(state=items)
        newest = values(context.visible)[-1:] or [0]
        answers = tuple(("answer", 100 * value + newest[0], 0) for _, value, _ in items)
        return Result(((("answers"), context.time, answers),))

    def on_notify(self, context: Context) -> Result:
        return Result()


def scenario(versions: object = None) -> Story:
    flow = flow_of(
        {
            "records": ephemeral(),
            "sum": ephemeral(),
            "table": lazy(),
            "queries": ephemeral(),
            "versions": versions or batch(),
            "join": lazy(),
            "users": lazy(),
        },
        outputs=["table", "users"],
        latest=[Latest("table", "versions", "queries")],
        raw="records > sum",
        sums="sum > table",
        asked="queries > join",
        fresh="versions > join",
        answers="join > users",
    )
    return Story(flow, sum=Sum(), table=Stage(), join=Join(), users=Stage())


def answers(story: Story) -> dict[object, list[int]]:
    return {time: values(batch) for time, batch in story.shown.get("users", {}).items()}


def ask(story: Story, value: int) -> None:
    """One epoch of queries."""
    story.ingest("queries", value)
    story.close("queries")
    story.settle()


def recompute(story: Story, value: int) -> None:
    """One run of the batch."""
    story.ingest("records", value)
    story.close("records")
    story.settle()


def test_answers_never_wait_for_the_batch() -> None:
    story = scenario()
    ask(story, 1)
    story.ingest("records", 7)
    ask(story, 2)
    assert answers(story) == {(0,): [100], (1,): [200]}, "there is no version yet"
    recompute(story, 0)
    ask(story, 3)
    assert answers(story)[2,] == [307]
    ask(story, 4)
    assert answers(story)[3,] == [407], "the newest stays until there is another"
    recompute(story, 9)
    ask(story, 5)
    assert answers(story)[4,] == [509]


@pytest.mark.parametrize("failed", ["records", "sum", "table"])
def test_a_failure_on_the_slow_side_does_not_touch_the_fast_one(failed: str) -> None:
    story = scenario()
    recompute(story, 7)
    ask(story, 1)
    story.ingest("records", 9)
    story.close("records")
    story.ingest("queries", 2)
    story.work()
    plan = story.fail(failed)
    assert plan["queries"] == plan["versions"] == plan["join"] == plan["users"] == EPOCH.top
    story.settle()
    ask(story, 3)
    shown = answers(story)
    assert shown[0,] == [107], "never taken back"
    assert [value // 100 for value in shown[1,]] == [2, 3]
    assert {value % 100 for value in shown[1,]} <= {7, 9}, "by one version or the next"


@pytest.mark.parametrize("failed", ["queries", "versions", "join", "users"])
def test_a_failure_on_the_fast_side_does_not_touch_the_slow_one(failed: str) -> None:
    story = scenario()
    recompute(story, 7)
    ask(story, 1)
    story.ingest("queries", 2)
    story.ingest("records", 9)
    story.work()
    plan = story.fail(failed)
    assert plan["records"] == plan["table"] == EPOCH.top
    story.close("queries")
    story.settle()
    assert answers(story) == {(0,): [107], (1,): [207]}


def test_what_was_answered_stays_after_a_failure_of_everything() -> None:
    story = scenario()
    for value in (1, 2, 3):
        recompute(story, value)
        ask(story, value)
    before = answers(story)
    assert before == {(0,): [101], (1,): [202], (2,): [303]}
    story.crash()
    story.settle()
    ask(story, 4)
    assert answers(story) == {**before, (3,): [403]}


def test_a_version_input_logs_what_it_ingests() -> None:
    with pytest.raises(DefinitionError, match="logs what it ingests"):
        scenario(versions=ephemeral())
