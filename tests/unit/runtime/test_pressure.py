"""How far an input may run ahead: by epochs, and by waiting messages behind sequence numbers."""

from unittest.mock import patch

from tests.unit.dataflow.ends import Sink, Source

import falkirk as fk
from falkirk.core.machine.engine import Machine
from falkirk.core.machine.events import Close, Finish, Ingest, Persist, Persisted, Release, Result
from falkirk.core.times import ProcessorId
from falkirk.runtime.pressure import Pressure
from falkirk.runtime.side_by_side import SideBySide, takes_all

IN = ProcessorId("in")


class Kept(fk.Processor):
    """Has state, so it is no part of a plan."""


def test_epochs_under_way_are_bounded() -> None:
    flow = fk.Dataflow("plain")
    flow.read(Source(), name="in").write(Sink(), name="out")
    machine = Machine(flow.build().flow)
    pressure = Pressure(machine.state.flow, epochs_ahead=2)
    for expected in (True, True, False):
        assert pressure.allows(machine, IN) is expected
        machine.step(Ingest(IN, ()))
        machine.step(Close(IN))


def test_requests_gather_while_an_epoch_is_computed_and_not_while_its_answers_go_out() -> None:
    flow = fk.Dataflow("asked")
    answers = flow.read(Source(), name="in").process(Kept(), name="answers")
    answers.write(Sink(), name="out")
    answers.process(Kept(), name="statistics").write(Sink(), name="counted")
    machine = Machine(flow.build().flow)
    gathering = Pressure(machine.state.flow, 4, {IN: frozenset([ProcessorId("out")])})
    unanswered = Pressure(machine.state.flow, 4, {IN: frozenset()})
    machine.step(Ingest(IN, ()))
    machine.step(Close(IN))
    assert (gathering.allows(machine, IN), unanswered.allows(machine, IN)) == (False, True)
    (item,) = machine.enabled()
    sent = tuple((edge.name, (0,), ()) for edge in machine.state.flow.graph.outputs(item.processor))
    machine.step(Finish(machine.begin(item), Result(sent)))
    waiting = {item.processor for item in machine.enabled()}
    assert waiting == {"out", "statistics"}, "neither the sink nor the statistics are waited for"
    assert gathering.allows(machine, IN)


def ingested(machine: Machine) -> None:
    machine.step(Ingest(IN, ()))
    machine.step(Close(IN))


def worked_off(machine: Machine, *names: str) -> None:
    """What waits for these processors is processed, and makes each send something."""
    while items := [item for item in machine.enabled() if item.processor in names]:
        work = machine.begin(items[0])
        outputs = machine.state.flow.graph.outputs(work.processor)
        machine.step(Finish(work, Result(tuple((edge.name, work.time, ()) for edge in outputs))))


def test_what_comes_gathers_until_the_first_output_is_done_with_what_came_before() -> None:
    flow = fk.Dataflow("gathered")
    rows = flow.read(Source(), name="in")
    rows.process(Kept(), name="quick").write(Sink(False), name="shown")
    rows.process(Kept(), name="slow").write(Sink(False), name="late")
    machine = Machine(flow.build().flow)
    cores = [1]
    gathering = Pressure(machine.state.flow, 3, None, {IN}, lambda: cores[0])
    limited = Pressure(machine.state.flow, 3)
    for _ in range(3):
        assert gathering.allows(machine, IN)
        ingested(machine)
        assert not gathering.allows(machine, IN)
        worked_off(machine, "quick", "shown")
    assert not gathering.allows(machine, IN), "the slow part is as far behind as it may be"
    worked_off(machine, "slow", "late")
    ingested(machine)
    assert (gathering.allows(machine, IN), limited.allows(machine, IN)) == (False, True)
    with patch.object(gathering, "completed") as asked:
        assert not gathering.allows(machine, IN)
    assert not asked.called, "so nobody has to go through all that are downstream"
    cores[0] = 2
    assert gathering.allows(machine, IN), "there are cores for two"
    ingested(machine)
    assert not gathering.allows(machine, IN)


def test_who_takes_all_there_is() -> None:
    counted = type("Counted", (), {"counts": ("rows",)})()
    assert takes_all(counted, fk.Limit())
    assert takes_all(counted, fk.Limit(seconds=1.0))
    assert not takes_all(counted, fk.Limit(rows=10))
    assert not takes_all(counted, fk.adaptive(1.0))
    assert not takes_all(Source(), fk.Limit()), "nobody knows how much it gives"


def test_there_are_as_many_side_by_side_as_cores_allow() -> None:
    found = [8]
    gateway = type("Gateway", (), {"cores": lambda self: found[0]})()
    assert [SideBySide(gateway, most)() for most in (9, 3)] == [4, 3]
    found[0] = 1
    assert SideBySide(gateway, 4)() == 1
    assert SideBySide(None, 4)() == 4, "on Spark Connect nobody can say"


def test_where_nobody_keeps_state_epochs_of_requests_go_side_by_side() -> None:
    flow = fk.Dataflow("asked")
    answers = flow.read(Source(), name="in").select("v", name="answers", policy=fk.batch())
    answers.write(Sink(), name="out")
    machine = Machine(flow.build().flow)
    pressure = Pressure(machine.state.flow, 2, {IN: frozenset([ProcessorId("out")])})
    for expected in (True, True, False):
        assert pressure.allows(machine, IN) is expected
        machine.step(Ingest(IN, ()))
        machine.step(Close(IN))


def test_an_open_window_does_not_hold_an_input_back_and_waiting_messages_do() -> None:
    flow = fk.Dataflow("windows")
    window = flow.read(Source(), name="in").in_sequence(name="numbers").windows(count=9, name="w")
    window.write(Sink(), name="out")
    machine = Machine(flow.build().flow)
    pressure = Pressure(machine.state.flow, epochs_ahead=2)

    def work(name: str) -> None:
        """Processes an event of ``name``; it sends on whatever it can."""
        item = next(item for item in machine.enabled() if item.processor == name)
        begun = machine.begin(item)
        if type(item).__name__ == "Notification":
            done = Result((("numbers>w", None, ()),), state=())  # type: ignore[arg-type]
        elif name == "numbers":
            done = Result(requests=(begun.time,))
        elif name == "w":
            done = Result((("w>out", (0,), ()),))  # type: ignore[arg-type]
        else:
            done = Result()
        machine.step(Finish(begun, done))

    for _ in range(6):
        assert pressure.allows(machine, IN), "the window is open all the time"
        machine.step(Ingest(IN, ()))
        machine.step(Close(IN))
        work("numbers")
        work("numbers")
        work("w")
        work("out")
    for expected in (True, True, False):
        assert pressure.allows(machine, IN) is expected
        if expected:
            machine.step(Ingest(IN, ()))
            machine.step(Close(IN))
            work("numbers")
            work("numbers")


def test_what_the_sinks_have_is_settled() -> None:
    flow = fk.Dataflow("settling")
    read = flow.read(Source(), name="in")
    read.write(Sink(exactly_once=False), name="prompt")
    read.write(Sink(), name="staged")
    machine = Machine(flow.build().flow)
    pressure = Pressure(machine.state.flow, epochs_ahead=9)
    effects = [*machine.step(Ingest(IN, (), 1)), *machine.step(Close(IN))]
    while items := machine.enabled():
        assert pressure.settled(machine, IN) == -1
        effects += machine.step(Finish(machine.begin(items[0]), Result(state=("rows",))))
    released = set()
    while effects:
        effect = effects.pop(0)
        if isinstance(effect, Persist):
            effects += machine.step(Persisted(effect.ticket))
        if isinstance(effect, Release):
            assert pressure.settled(machine, IN) == -1
            released.add(effect.processor)
            effects += machine.step(effect.taken)
    assert released == {"prompt", "staged"}
    assert pressure.settled(machine, IN) == 0


def test_behind_windows_nothing_is_ever_known_to_be_settled() -> None:
    flow = fk.Dataflow("windows")
    window = flow.read(Source(), name="in").in_sequence(name="numbers").windows(count=1, name="w")
    window.write(Sink(), name="out")
    machine = Machine(flow.build().flow)
    assert Pressure(machine.state.flow, 9).settled(machine, IN) == -1


def test_an_output_behind_windows_that_answers_nobody_is_not_waited_for() -> None:
    flow = fk.Dataflow("windows")
    read = flow.read(Source(), name="in")
    read.write(Sink(exactly_once=False), name="answers")
    read.in_sequence(name="numbers").windows(count=9, name="w").write(Sink(), name="out")
    machine = Machine(flow.build().flow)
    pressure = Pressure(machine.state.flow, 9, {IN: {ProcessorId("answers")}})
    effects = [*machine.step(Ingest(IN, (), 1)), *machine.step(Close(IN))]
    while items := [item for item in machine.enabled() if item.processor == "answers"]:
        effects += machine.step(Finish(machine.begin(items[0]), Result(state=("rows",))))
    (release,) = [effect for effect in effects if isinstance(effect, Release)]
    assert pressure.settled(machine, IN) == -1
    machine.step(release.taken)
    assert pressure.settled(machine, IN) == -1, "the numbers were not given out yet"
    while items := machine.enabled():
        machine.step(Finish(machine.begin(items[0]), Result()))
    assert pressure.settled(machine, IN) == 0
    untold = Pressure(machine.state.flow, 9, {IN: {ProcessorId("out")}})
    assert untold.settled(machine, IN) == -1


def test_who_has_completed_most_and_who_least() -> None:
    flow = fk.Dataflow("plain")
    flow.read(Source(), name="in").write(Sink(), name="out")
    machine = Machine(flow.build().flow)
    pressure = Pressure(machine.state.flow, epochs_ahead=2)
    assert (pressure.completed(machine, IN), pressure.reached(machine, IN)) == (-1, -1)
    machine.step(Ingest(IN, ()))
    machine.step(Close(IN))
    assert (pressure.completed(machine, IN), pressure.reached(machine, IN)) == (-1, 0)
