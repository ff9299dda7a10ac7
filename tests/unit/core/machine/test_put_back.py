"""Work that comes to nothing goes back; a result that is refused changes nothing."""

from copy import deepcopy
from typing import Any

import pytest
from tests.paper.driver import Story
from tests.paper.flows import flow_of, items

from falkirk.core import DefinitionError, Sequence
from falkirk.core.machine.engine import Machine
from falkirk.core.machine.events import Close, Finish, Ingest, Item, Notification, PutBack, Result
from falkirk.core.policy import batch, eager, ephemeral, history, lazy
from falkirk.core.times import SequenceNumber
from falkirk.testing.fingerprint import fingerprint
from falkirk.testing.logic import Buffer, Sum
from falkirk.testing.simulator import Scenario, Simulation


def contents(machine: Machine) -> Any:
    """Everything that a machine knows, but for the numbers that it has given out."""
    run = Simulation(Scenario(machine.state.flow, {}, {}), 0)
    run.machine = machine
    return fingerprint(run), dict(machine.state.running), machine.state.progress.counts


def messages() -> Machine:
    flow = flow_of({"in": batch(), "p": lazy(), "q": lazy()}, a="in > p", b="p > q")
    machine = Machine(flow)
    for k in range(3):
        machine.step(Ingest("in", items(k)))
    return machine


def test_a_message_goes_back_to_its_place() -> None:
    machine = messages()
    before, enabled = deepcopy(contents(machine)), machine.enabled()
    work = machine.begin(enabled[0])
    assert machine.step(PutBack(work)) == []
    assert contents(machine) == before
    assert machine.enabled() == enabled


def test_a_notification_is_owed_again() -> None:
    machine = messages()
    machine.step(Finish(machine.begin(machine.enabled()[0]), Result(requests=((0,),))))
    for _ in range(2):
        machine.step(Finish(machine.begin(machine.enabled()[0]), Result()))
    machine.step(Close("in"))
    expected: list[Item] = [Notification("p", (0,))]
    assert machine.enabled() == expected
    before = deepcopy(contents(machine))
    machine.step(PutBack(machine.begin(expected[0])))
    assert machine.enabled() == expected
    assert contents(machine) == before


def test_a_replayed_event_goes_back_to_the_front() -> None:
    flow = flow_of({"in": batch(), "p": history(), "q": lazy()}, a="in > p", b="p > q")
    story = Story(flow, p=Buffer(), q=Buffer())
    for k in (1, 2):
        story.ingest("in", k)
    story.work("p")
    story.close("in")
    story.persist_all("in", "p")
    story.fail("p")
    (again,) = story.enabled("p")
    story.step(PutBack(story.machine.begin(again)))
    assert story.enabled("p") == [again]
    story.settle()
    assert story.whole_state("q") == [1, 2]


def test_what_a_rollback_took_does_not_come_back() -> None:
    flow = flow_of({"in": batch(), "p": lazy()}, a="in > p")
    story = Story(flow, p=Sum())
    story.ingest("in", 1)
    work = story.begin_delivery("p", "a", (0,))
    story.fail("p")
    queued = story.queued("a")
    story.step(PutBack(work))
    assert story.queued("a") == queued


REFUSED = {
    "the past": Result(state=("new",), sends=(("b", (0,), "x"), ("b", (-1,), "y"))),
    "no such edge": Result(state=("new",), sends=(("b", (0,), "x"), ("a", (0,), "y"))),
    "no time": Result(state=("new",), sends=(("b", None, "x"),)),
    "wrong depth": Result(state=("new",), sends=(("b", (0, 0), "x"),)),
    "a past request": Result(state=("new",), requests=((0,), (-1,))),
    "no window": Result(state=("new",), sends=(("b", (0,), "x"),), closes=(("b", 0),)),
}


@pytest.mark.parametrize("result", REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("policy", [lazy(), eager(), batch(), ephemeral(), history()])
def test_a_result_that_is_refused_changes_nothing(policy: Any, result: Result) -> None:
    flow = flow_of({"in": batch(), "p": policy, "q": lazy()}, a="in > p", b="p > q")
    machine = Machine(flow)
    machine.step(Ingest("in", items(1)))
    (item,) = machine.enabled()
    work = machine.begin(item)
    before = deepcopy(contents(machine))
    with pytest.raises(DefinitionError):
        machine.step(Finish(work, result))
    assert contents(machine) == before
    machine.step(PutBack(work))
    assert machine.enabled() == [item]


def test_a_replay_that_does_something_else_changes_nothing() -> None:
    flow = flow_of({"in": batch(), "p": history(), "q": lazy()}, a="in > p", b="p > q")
    story = Story(flow, p=Buffer(), q=Buffer())
    story.ingest("in", 1)
    story.work("p")
    story.close("in")
    story.persist_all("in", "p")
    story.fail("p")
    work = story.machine.begin(story.enabled("p")[0])
    before = deepcopy(contents(story.machine))
    with pytest.raises(DefinitionError, match="deterministic"):
        story.step(Finish(work, Result(state=("other",))))
    assert contents(story.machine) == before


def test_windows_are_checked_as_a_whole() -> None:
    flow = flow_of(
        {"in": batch(), "there": lazy(), "back": lazy(), "q": lazy()},
        domains={"back": Sequence()},
        a="in > there",
        b="there > back",
        c="back > q",
    )
    machine = Machine(flow)
    machine.step(Ingest("in", items(1)))
    work = machine.begin(machine.enabled()[0])
    machine.step(Finish(work, Result(requests=((0,),))))
    machine.step(Close("in"))
    work = machine.begin(machine.enabled()[0])
    machine.step(Finish(work, Result(sends=(("b", None, "x"),))))
    work = machine.begin(machine.enabled()[0])
    assert work.time == SequenceNumber("b", 1)
    before = deepcopy(contents(machine))
    with pytest.raises(DefinitionError, match="does not hold open"):
        machine.step(Finish(work, Result(closes=(("c", 2), ("c", 1)))))
    assert contents(machine) == before
    machine.step(Finish(work, Result(closes=(("c", 1), ("c", 2)))))
