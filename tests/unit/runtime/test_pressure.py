"""How far an input may run ahead: by epochs, and by waiting messages behind sequence numbers."""

from tests.unit.dataflow.ends import Sink, Source

import falkirk as fk
from falkirk.core.machine.engine import Machine
from falkirk.core.machine.events import Close, Finish, Ingest, Result
from falkirk.core.times import ProcessorId
from falkirk.runtime.pressure import Pressure

IN = ProcessorId("in")


def test_epochs_under_way_are_bounded() -> None:
    flow = fk.Dataflow("plain")
    flow.read(Source(), name="in").write(Sink(), name="out")
    machine = Machine(flow.build().flow)
    pressure = Pressure(machine.state.flow, epochs_ahead=2)
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
