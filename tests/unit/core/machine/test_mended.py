"""What was wrong once: each test tells the shortest story that showed it."""

import pytest
from tests.paper.driver import Story
from tests.paper.flows import flow_of
from tests.paper.test_engine_section_3_2_bridges import Windows

from falkirk.core import DefinitionError, Sequence
from falkirk.core.policy import batch, eager, history, lazy
from falkirk.testing.logic import Buffer, Map, Stage, Sum


def test_epochs_are_forwarded_to_sequence_numbers_only_when_complete() -> None:
    """Numbers of interleaved epochs were given out twice after a rollback, and messages lost."""
    flow = flow_of(
        {"slow": batch(), "fast": batch(), "p": batch(), "q": eager()},
        domains={"q": Sequence()},
        a="slow > p",
        b="fast > p",
        c="p > q",
    )
    story = Story(flow, p=Map(0), q=Buffer())
    story.ingest("slow", 1)
    with pytest.raises(DefinitionError, match="before that time is complete"):
        story.deliver("p", "a", (0,))


def test_no_time_completes_while_a_replay_still_owes_messages_at_it() -> None:
    """A window's receiver was checkpointed before the replayed messages had come back."""
    flow = flow_of(
        {"in": batch(), "w": history(), "sum": lazy()},
        domains={"w": Sequence()},
        a="in > w",
        c="w > sum",
    )
    story = Story(flow, w=Windows("c"), sum=Sum())
    story.ingest("in", 1)
    story.ingest("in", 2)
    story.close("in")
    story.work("w")
    story.persist_all("in", "w")
    story.fail("w", "sum")
    assert not [e for e in story.asked if e.processor == "sum"]
    assert story.machine.state.completed("sum").is_empty


def test_an_output_that_fails_offers_again_what_the_outside_has_not_taken() -> None:
    """A release that was lost with its output was never repeated."""
    flow = flow_of({"in": batch(), "out": lazy()}, outputs=["out"], a="in > out")
    story = Story(flow, out=Stage())
    story.ingest("in", 1)
    story.close("in")
    story.work("out")
    story.persist_all()
    story.offered.clear()
    story.fail("out")
    assert [release.time for release in story.offered] == [(0,)]
