"""Why Spark did not start, in one line, and what can be known of that before it is tried."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import Timer

from falkirk.core.errors import ConfigurationError
from falkirk.runtime.hearing import Hearing
from falkirk.runtime.java import find_java_home
from falkirk.runtime.masters import CONNECT, check_master
from falkirk.runtime.reaching import UNREACHABLE, log, shown, unreachable, wait_for
from falkirk.runtime.sizes import check_sizes

EXITED = "JAVA_GATEWAY_EXITED"
"""What PySpark says of a JVM that has ended before it could be spoken to."""

UNRESPONSIVE = "All masters are unresponsive"
"""What Spark says of a standalone master that does not talk to it, after a minute."""

SILENT_SECONDS = 10.0
"""After so long somebody who waits is told what for."""

THROWN = re.compile(r'^(?:: |Exception in thread "[^"]*" )?(?:[\w$]+\.)+[\w$]+: (.+)')
CAUSE = re.compile(r"^Caused by: (?:[\w$]+\.)+[\w$]+: (.+)")
NOISE = re.compile(
    r"^\s*$|^\s+at | WARN |^(WARNING|NOTE|Picked up|Using Spark's|Setting|To adjust)"
)
LINE_MAX = 500

MASTER = "master"

Origins = Mapping[str, str]
"""Where a setting was written, by its name; the master is one, too."""


class StartError(ConfigurationError):
    """Spark did not start: ``said`` is its own word for it.

    ``given`` are the master and the settings that somebody gave, with their origins. No value is
    shown but that of the master, for others may be secret.
    """

    def __init__(self, said: str, master: str, given: Origins) -> None:
        self.said, self.master, self.given = said, master, given
        named = [name for name in given if name in said]
        listed = ", ".join(
            (f"the master {shown(master)}" if name == MASTER else name)
            + (f" ({given[name]})" if given[name] else "")
            for name in named or given
        )
        mend = listed if named else f"one of {listed}, or a variable SPARK_… of the environment"
        super().__init__(
            f"Spark did not start: {said.rstrip('.')}. Next: mend {mend}; FALKIRK_TRACEBACK=1 shows"
            " all that Spark said"
        )

    def given_by(self, origins: Origins) -> "StartError":
        """The same error, which says where each setting was written."""
        given = {name: origins.get(name, "") for name in self.given}
        found = StartError(self.said, self.master, given)
        found.__cause__ = self.__cause__
        for note in getattr(self, "__notes__", ()):
            found.add_note(note)
        return found


def check_start(master: str, settings: Mapping[str, str], origins: Origins | None = None) -> None:
    """Refuses what Spark cannot start with, and waits until its master can be reached.

    Quick and without a JVM, so that it can be known before a store is taken.
    """
    origin = (origins or {}).get(MASTER, "")
    check_master(master, origin)
    check_sizes(settings, origins)
    if not master.startswith(CONNECT):
        find_java_home()
    wait_for(master, origin)


@contextmanager
def starting(
    master: str, settings: Mapping[str, str], hearing: Hearing | None = None
) -> Iterator[None]:
    """Spark is started inside; whatever goes wrong with that is told in one line."""
    waiting = Timer(SILENT_SECONDS, log.warning, ["waiting for %s", shown(master)])
    waiting.daemon = True
    if not master.startswith("local"):
        waiting.start()
    try:
        yield
    except Exception as error:
        ended = EXITED in str(error)
        heard = hearing.taken(ended) if hearing is not None else ""
        told = described(error, heard, ended, master, settings)
        told.add_note(f"What Spark said:\n{heard}")
        raise told from error
    finally:
        waiting.cancel()
        if hearing is not None:
            hearing.release()


def described(
    error: Exception, heard: str, ended: bool, master: str, settings: Mapping[str, str]
) -> Exception:
    """The error to tell: somebody does not answer, or a setting is wrong."""
    said = decisive(heard if ended and heard else str(error))
    if UNRESPONSIVE in heard:
        return unreachable(master, "it takes connections, and no application")
    if any(mark in str(error) for mark in UNREACHABLE):
        return unreachable(master, said)
    return StartError(said, master, dict.fromkeys((MASTER, *settings), ""))


def decisive(text: str) -> str:
    """The line that says why: of Java's exceptions the innermost cause, else the first word.

    >>> decisive("java.lang.A: it failed\\n\\tat x.y(Z.java:1)\\nCaused by: java.lang.B: no room")
    'no room'
    >>> decisive("WARNING: Using modules\\nInvalid maximum heap size: -Xmxlots\\nError: …")
    'Invalid maximum heap size: -Xmxlots'
    """
    lines = text.splitlines()
    causes = [found[1] for line in lines if (found := CAUSE.match(line))]
    thrown = [found[1] for line in lines if (found := THROWN.match(line))]
    words = [line.strip() for line in lines if not NOISE.search(line)]
    return [*causes[-1:], *thrown[:1], *words[:1], "it does not say why"][0][:LINE_MAX]
