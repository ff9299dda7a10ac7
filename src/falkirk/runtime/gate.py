"""With monitors beside the flow: what cannot be undone waits until one of them agrees (§4.2).

The machine has a monitor of its own. Where others run in processes of their own, whatever follows
from a low-watermark and cannot be taken back, that is collecting, acknowledging and releasing, is
carried out when they have posted the same watermark. If they die the flow goes on, and only this
waits.
"""

import logging
import time
from threading import Event as Flag
from threading import Thread
from typing import TYPE_CHECKING, Any

from falkirk.core.machine.events import Acknowledge, Collect, CollectLog, Effect, Release
from falkirk.core.times import ProcessorId
from falkirk.store.noticeboard import Noticeboard

if TYPE_CHECKING:
    from falkirk.runtime.driver import Driver

POLL_SECONDS = 0.1
SILENCE_SECONDS = 10.0

log = logging.getLogger("falkirk.monitor")

Final = Collect | CollectLog | Acknowledge | Release
"""Effects that cannot be taken back."""


class Gate:
    """Holds effects until monitors allow them."""

    def __init__(self, driver: "Driver", board: Noticeboard) -> None:
        """Starts to read what monitors post."""
        self.driver, self.board = driver, board
        self.waiting: list[Final] = []
        self.watermarks: dict[ProcessorId, Any] = {}
        self._closed = Flag()
        self._thread = Thread(target=self._follow, name="falkirk-gate", daemon=True)
        self._thread.start()

    def passed(self, effects: list[Effect]) -> list[Effect]:
        """Those of ``effects`` that may be carried out now; the others are kept."""
        allowed: list[Effect] = []
        for effect in effects:
            if isinstance(effect, Final) and not self.allows(effect):
                self.waiting.append(effect)
            else:
                allowed.append(effect)
        return allowed

    def allows(self, effect: Final) -> bool:
        """Whether a posted watermark covers what an effect takes for granted."""
        graph = self.driver.blueprint.flow.graph
        if isinstance(effect, CollectLog):
            target = graph.edges[effect.edge].target
            posted = self.watermarks.get(target)
            return posted is not None and effect.reached <= graph.domains[target].part(
                posted, effect.edge
            )
        if isinstance(effect, Release) and effect.incarnation is not None:
            return True  # of an output that promises nothing
        posted = self.watermarks.get(effect.processor)
        if posted is None:
            return False
        if isinstance(effect, Release):
            return effect.time in posted
        wanted = effect.watermark if isinstance(effect, Collect) else effect.frontier
        return bool(wanted <= posted)

    def close(self) -> None:
        """Stops reading; what waits is decided anew by the next run."""
        self._closed.set()
        self._thread.join()

    def _follow(self) -> None:
        heard, known = time.monotonic(), dict[ProcessorId, Any]()
        while not self._closed.wait(POLL_SECONDS):
            try:
                posted = self.board.watermarks()
            except Exception as error:
                log.warning("what monitors post cannot be read: %s", error)
                continue
            if posted != known:
                heard, known = time.monotonic(), posted
                self.driver.tell(self._heard, posted)
            elif self.waiting and time.monotonic() - heard > SILENCE_SECONDS:
                heard = time.monotonic()
                log.warning(
                    "%d effects wait for a monitor: is `falkirk monitor` running on this store?",
                    len(self.waiting),
                )

    def _heard(self, posted: dict[ProcessorId, Any]) -> None:
        self.watermarks = posted
        waiting: list[Effect] = [*self.waiting]
        self.waiting = []
        self.driver.carry_out(waiting)
