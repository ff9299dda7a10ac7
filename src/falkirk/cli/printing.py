"""Printing JSON that people read too, on any standard output."""

import json
import sys
from typing import Any

import click

from falkirk.core.problem.document import one_line


def print_json(value: Any) -> None:
    """Prints ``value``; where standard output has no Unicode, other letters become escapes."""
    click.echo(laid_out(value, ascii_only=not speaks_unicode()))


def in_one_line(message: str) -> str:
    """A message that is laid out in lines, in one; whatever cannot be printed is escaped.

    >>> in_one_line("it differs:\\n  - a is new\\n  - b is gone\\nrun the other one")
    'it differs: a is new; b is gone; run the other one'
    """
    said = ""
    for line in filter(None, (each.strip().removeprefix("- ") for each in message.split("\n"))):
        said += ("" if not said else " " if said.endswith((":", ".", ";", ",")) else "; ") + line
    return one_line(said)


def speaks_unicode() -> bool:
    """Whether standard output can take every letter."""
    encoding: str = getattr(sys.stdout, "encoding", None) or "utf-8"
    return encoding.lower().startswith("utf")


def laid_out(value: Any, ascii_only: bool = False, indent: str = "") -> str:
    """``value`` as JSON with one line for each entry, and for each frontier."""
    if not isinstance(value, dict | list) or _is_short(value):
        return json.dumps(value, ensure_ascii=ascii_only)
    inner = indent + "  "
    if isinstance(value, dict):
        brackets = "{}"
        entries = [
            f"{json.dumps(key, ensure_ascii=ascii_only)}: {laid_out(entry, ascii_only, inner)}"
            for key, entry in value.items()
        ]
    else:
        brackets = "[]"
        entries = [laid_out(entry, ascii_only, inner) for entry in value]
    body = f",\n{inner}".join(entries)
    return f"{brackets[0]}\n{inner}{body}\n{indent}{brackets[1]}"


def _is_short(value: dict[str, Any] | list[Any]) -> bool:
    """Whether this is empty, a time, a list of times, or sequence numbers by edge."""
    entries = value.values() if isinstance(value, dict) else value
    return all(
        isinstance(entry, int)
        or entry == "inf"
        or (isinstance(value, list) and isinstance(entry, list) and _is_short(entry))
        for entry in entries
    )
