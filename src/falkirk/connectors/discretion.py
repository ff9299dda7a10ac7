"""Telling Java a secret without telling the log.

Whoever logs everything, at the level of debugging, also logs each call to Java, with what it is
given: passwords and keys among them. A function for executors is there too, with all that it holds,
in an encoding that anybody can undo.
"""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

CALLING = ("py4j.clientserver", "py4j.java_gateway")
"""Who logs calls to Java."""


@contextmanager
def unheard() -> Iterator[None]:
    """Logs no call to Java of this thread."""
    thread = threading.get_ident()

    def passes(record: logging.LogRecord) -> bool:
        return record.thread != thread

    loggers = [logging.getLogger(name) for name in CALLING]
    for logger in loggers:
        logger.addFilter(passes)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(passes)
