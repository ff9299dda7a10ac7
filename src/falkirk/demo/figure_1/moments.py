"""The moments at which a failure costs something.

Between two epochs everything is durable and has arrived. Who fails then loses nothing, and a
demonstration that strikes there shows nothing.
"""

import os
import signal
import time
from collections.abc import Callable, Iterable
from threading import Timer

from falkirk.core.machine.ledger import within
from falkirk.core.machine.state import State
from falkirk.core.times import ProcessorId
from falkirk.runtime.driver import Driver

LOOK_SECONDS = 0.005
PATIENCE_SECONDS = 30.0
"""How often it is looked whether the moment has come, and for how long at most."""

Chosen = frozenset[ProcessorId]


def lie_in_wait(
    driver: Driver, come: Callable[[State], bool], strike: Callable[[], None], until: float
) -> None:
    """Calls ``strike`` on the driver's thread when the moment has ``come``, or at ``until``."""
    if time.monotonic() >= until or come(driver.machine.state):
        strike()
        return
    again = Timer(LOOK_SECONDS, driver.tell, (lie_in_wait, driver, come, strike, until))
    again.daemon = True
    again.start()


def fail(driver: Driver, chosen: Chosen, at_once: bool = False) -> None:
    """Makes processors fail: in the midst of their work, or ``at_once``."""

    def strike() -> None:
        driver.failures.lost(chosen, RuntimeError("made to fail"))

    until = time.monotonic() + (0.0 if at_once else PATIENCE_SECONDS)
    driver.tell(lie_in_wait, driver, lambda state: at_work(state, chosen), strike, until)


def die(driver: Driver, receivers: Chosen) -> None:
    """Kills this process, and all it has started, when a restart will have to send again."""

    def strike() -> None:
        os.killpg(os.getpgid(0), signal.SIGKILL)

    until = time.monotonic() + PATIENCE_SECONDS
    driver.tell(lie_in_wait, driver, lambda state: owed(state, receivers), strike, until)


def at_work(state: State, chosen: Iterable[ProcessorId]) -> bool:
    """Whether some of them have done something that no checkpoint has been asked for."""
    return any(
        time not in state.standing[p].saved for p in chosen for time in state.ledgers[p].records
    )


def owed(state: State, receivers: Iterable[ProcessorId]) -> bool:
    """Whether, if all fail now, only the log of a sender has what one of ``receivers`` lacks.

    Its sender would stay inside its low-watermark, and not compute that again; and the receiver
    has not asked for a checkpoint that includes it.
    """
    graph = state.flow.graph
    return any(
        message.cause in state.monitor.watermark(edge.source)
        and not within(message, graph.domains[p].part(state.standing[p].saved, edge.name))
        for p in receivers
        for edge in graph.inputs(p)
        for message in state.ledgers[edge.source].log(edge.name)
    )
