"""Checks what is given to the methods of a stream, so that errors lead to the user's line."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from falkirk.dataflow.location import refusal
from falkirk.dataflow.processor import Processor

if TYPE_CHECKING:
    from falkirk.dataflow.stream import Stream


def expressions(given: tuple[Any, ...], method: str) -> tuple[str, ...]:
    """One or more SQL expressions."""
    if not given:
        raise refusal(f"{method} needs at least one expression")
    for each in given:
        if not isinstance(each, str) or not each.strip():
            raise refusal(f"{method} takes SQL expressions as text, not {each!r}; see transform")
    return given


def columns(given: Any, method: str) -> tuple[str, ...]:
    """One or more names of columns."""
    chosen = (given,) if isinstance(given, str) else tuple(given) if _iterable(given) else ()
    if not chosen or not all(isinstance(each, str) and each for each in chosen):
        raise refusal(f"{method} needs on= with one or more names of columns, not {given!r}")
    return chosen


def one_of(given: str, choices: tuple[str, ...], method: str) -> str:
    """One of the kinds that there are."""
    if given not in choices:
        raise refusal(f"{method} has no kind {given!r}: {', '.join(choices)}")
    return given


def function_of(given: Any, method: str) -> None:
    """Something that can be called."""
    if not callable(given):
        raise refusal(f"{method} needs a function, not {given!r}")


def processor_of(given: Any, method: str) -> None:
    """A processor, and not its class."""
    if not isinstance(given, Processor):
        hint = "an instance, not the class," if isinstance(given, type) else "an instance"
        raise refusal(f"{method} needs {hint} of a subclass of fk.Processor: {given!r}")


def streams_of(given: tuple[Any, ...], method: str) -> "tuple[Stream, ...]":
    """Streams, and nothing else."""
    from falkirk.dataflow.stream import Stream

    for each in given:
        if not isinstance(each, Stream):
            raise refusal(f"{method} takes streams, not {each!r}")
    return given


def _iterable(given: Any) -> bool:
    return isinstance(given, Iterable)
