"""A program that is measured: started with a log in its folder, killed with all that it started."""

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import psutil

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


def kill(process: Process | None) -> float:
    """Ends a program and all that it started, as a power failure would; returns when that began."""
    begun = time.monotonic()
    if process is not None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return begun


def kill_one(process: Process, word: str) -> float:
    """Ends the first child of a program that has ``word`` in its command line, and its children.

    Returns when that began, and does not wait: whoever started the child sees that it is gone.
    """
    children = psutil.Process(process.pid).children(recursive=True)
    named = [child for child in children if any(word in part for part in command_of(child))]
    oldest = min(named, key=psutil.Process.create_time)
    doomed = [oldest, *oldest.children(recursive=True)]
    begun = time.monotonic()
    for each in doomed:
        with suppress(psutil.NoSuchProcess):
            each.kill()
    return begun


def command_of(process: psutil.Process) -> list[str]:
    """What started a process; nothing if it has ended."""
    with suppress(psutil.NoSuchProcess):
        return process.cmdline()
    return []


def last_words(folder: Path, most: int) -> str:
    """The end of the log."""
    return (folder / "log").read_text("utf-8", "replace")[-most:]
