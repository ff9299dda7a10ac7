"""A line that says how far a run has come, on a terminal and nowhere else."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

from rich.console import Console

from falkirk.core.errors import FalkirkError
from falkirk.core.machine.flow import Role

SECONDS = 1.0


@contextmanager
def progress(name: str, place: str, shown: bool = True) -> Iterator[None]:
    """Shows on standard error how far the flow has come, read from its store now and then."""
    if not shown or not sys.stderr.isatty():
        yield
        return
    ended = Event()
    console = Console(stderr=True, highlight=False)
    console.print(f"{name}: starting Spark", style="dim")
    thread = Thread(target=_follow, args=(name, place, console, ended), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _follow(name: str, place: str, console: Console, ended: Event) -> None:
    """Says something once there is something new: what Java has to say while it starts is over."""
    began, first = time.monotonic(), _reached(place)
    while not ended.wait(SECONDS):
        if _reached(place) != first:
            break
    with console.status(name) as line:
        while not ended.wait(SECONDS):
            line.update(f"{name}: {time.monotonic() - began:.0f} s, {_reached(place)}")


def _reached(place: str) -> str:
    """What each output has staged, in words; nothing if there is no store yet."""
    from falkirk.inspection.look import look_at
    from falkirk.inspection.words import until

    try:
        look = look_at(place)
    except FalkirkError:
        return ""
    outputs = [p for p, each in look.flow.processors.items() if each.role is Role.OUTPUT]
    return ", ".join(f"{p} {until(look.saved(p))}" for p in outputs)
