"""Doing something with a system outside until it works, or until it is clear that it will not."""

import logging
from collections.abc import Callable
from threading import Event

from falkirk.core.errors import OutageError, PermanentError
from falkirk.runtime.patience import OUTAGE, Patience

log = logging.getLogger("falkirk.outside")


class Insisting:
    """Tries again with growing pauses: longest when the system is down, never what is permanent."""

    def __init__(self, patience: Patience, closing: Event) -> None:
        """``closing`` ends all waiting."""
        self.patience, self.closing = patience, closing

    def on(
        self,
        attempt: Callable[[], None],
        what: str,
        unless: Callable[[Exception], bool] = lambda error: False,
    ) -> None:
        """Calls ``attempt`` until it returns; raises what it raised for good, or ``unless``."""
        failures = 0
        while True:
            try:
                attempt()
                return
            except Exception as error:
                failures += 1
                pause = self.pause(error, failures)
                if pause is None or unless(error):
                    raise
                log.warning("%s: %s; again in %.1f s", what, error, pause)
                if self.closing.wait(pause):
                    raise

    def pause(self, error: Exception, failures: int) -> float | None:
        """How long to wait after so many failures; None if it is of no use any more."""
        if isinstance(error, PermanentError):
            return None
        patience = OUTAGE if isinstance(error, OutageError) else self.patience
        return patience.pause_after(failures)
