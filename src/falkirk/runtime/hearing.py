"""What Spark's JVM writes to standard error: kept while Spark starts, and then passed on.

Where Spark cannot start, one line of many says why. So nothing is shown before it is clear that it
has started; then comes all that was kept, and from then on everything as it is written.
"""

import os
from contextlib import suppress
from threading import Lock, Thread

STDERR = 2
LAST_WORDS_SECONDS = 5.0


class Hearing:
    """One end of a pipe whose other one, ``writing``, is the standard error of a process."""

    def __init__(self) -> None:
        """Everything is kept until it is released."""
        self._reading, self.writing = os.pipe()
        self._kept: list[bytes] = []
        self._keeps = True
        self._lock = Lock()
        # What is read must be read for ever: a JVM that cannot write stands still.
        self._thread = Thread(target=self._listen, name="falkirk-java", daemon=True)
        self._thread.start()

    def handed_over(self) -> None:
        """The process has its end; ours is closed, so that we hear when it ends."""
        os.close(self.writing)

    def release(self) -> None:
        """Passes on what was kept, and keeps no more."""
        with self._lock:
            self._keeps = False
            pass_on(b"".join(self._kept))
            self._kept.clear()

    def taken(self, ended: bool) -> str:
        """What was kept, instead of passing it on; all of it, if the process has ``ended``."""
        if ended:
            self._thread.join(LAST_WORDS_SECONDS)
        with self._lock:
            self._keeps = False
            text = b"".join(self._kept).decode("utf-8", "replace")
            self._kept.clear()
            return text

    def _listen(self) -> None:
        with suppress(OSError):
            while piece := os.read(self._reading, 1 << 16):
                with self._lock:
                    if self._keeps:
                        self._kept.append(piece)
                    else:
                        pass_on(piece)
        os.close(self._reading)


def pass_on(piece: bytes) -> None:
    """Writes to standard error, if anybody reads that."""
    with suppress(OSError):
        while piece:
            piece = piece[os.write(STDERR, piece) :]
