"""A program that is measured: started with a log in its folder, killed with all that it started."""

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

Process = subprocess.Popen[bytes]


def started(
    folder: Path, command: Sequence[str], environment: Mapping[str, str], cwd: Path | None = None
) -> tuple[Process, float]:
    """Starts a program on ``folder``, which gets ``in``, ``out`` and a log; and when that was."""
    for name in ("in", "out"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    with (folder / "log").open("ab") as log:
        begun = time.monotonic()
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=environment,
            cwd=cwd,
            start_new_session=True,  # its JVM goes with it
        )
    return process, begun


def kill(process: Process | None) -> None:
    """Ends a program and all that it started, as a power failure would."""
    if process is not None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def last_words(folder: Path, most: int) -> str:
    """The end of the log."""
    return (folder / "log").read_text("utf-8", "replace")[-most:]
