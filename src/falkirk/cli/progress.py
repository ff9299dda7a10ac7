"""How far a run has come: one line that changes on a terminal, now and then a line elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread

import click
from rich.console import Console

from falkirk.core.errors import FalkirkError
from falkirk.core.machine.flow import Role

SECONDS = 1.0

FIRST_SECONDS, EVERY_SECONDS = 10.0, 30.0
"""When there is a line where nobody watches: first, and from one to the next."""


@contextmanager
def progress(name: str, place: str, shown: bool = True, lines: bool = True) -> Iterator[None]:
    """Shows on standard error how far the flow has come, read from its store now and then.

    Where that is no terminal there are plain ``lines``, unless the run is short.
    """
    terminal = sys.stderr.isatty()
    if not shown or not (terminal or lines):
        yield
        return
    ended = Event()
    if terminal:
        console = Console(stderr=True, highlight=False)
        console.print(f"{name}: starting Spark", style="dim")
        thread = Thread(target=_follow, args=(name, place, console, ended), daemon=True)
    else:
        thread = Thread(target=_tell, args=(name, place, ended.wait), daemon=True)
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


def _tell(
    name: str,
    place: str,
    ends: Callable[[float], bool],
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Prints lines until the run ``ends``, which is waited for so many seconds at a time."""
    began, seconds = clock(), FIRST_SECONDS
    while not ends(seconds):
        reached = _reached(place) or "nothing saved yet"
        click.echo(f"{name}: {clock() - began:.0f} s, {reached}", err=True)
        seconds = EVERY_SECONDS


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
