"""On which lines of a file certain records are, found by reading it once more."""

import bz2
import gzip
from collections import Counter
from collections.abc import Iterator, Mapping
from io import TextIOBase
from pathlib import Path
from typing import Any, cast

from falkirk.connectors.compressed import BROKEN, broken_line
from falkirk.connectors.unreadable import WHOLE

OPENERS: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open}
"""Compressions that the standard library reads."""

Located = tuple[int | None, str]


def locate(
    path: Path, wanted: Counter[str], format: str, options: Mapping[str, str]
) -> list[Located]:
    """The line of each of the ``wanted`` records, None for those that are not found.

    Whether a record is malformed depends on its text alone, so all lines with the same text are.
    """
    given = {name.lower(): value for name, value in options.items()}
    if format in WHOLE:
        return [(None, text) for text in sorted(wanted.elements())]
    if all(text.startswith(BROKEN) for text in wanted):
        return [(breaks_off(path, given), text) for text in sorted(wanted.elements())]
    left = Counter(wanted)
    found: list[Located] = []
    several_lines = format == "xml" or is_set(given, "multiline")
    try:
        with opened(path, given) as file:
            if several_lines:
                found = list(in_text(file.read(), left, format))
            else:
                skipped = 1 if format == "csv" and is_set(given, "header") else 0
                for line, text in enumerate(lines_of(file, given.get("linesep")), start=1):
                    if line > skipped and left[text] > 0:
                        left[text] -= 1
                        found.append((line, text))
    except (OSError, LookupError, EOFError):
        pass  # what cannot be read here has no lines
    return found + [(None, text) for text in sorted(left) for _ in range(left[text])]


def breaks_off(path: Path, options: Mapping[str, str]) -> int | None:
    """The line in which a file breaks off, if lines end as they mostly do."""
    encoding = (options.get("encoding") or options.get("charset") or "utf-8").lower()
    counted = not options.get("linesep") and not encoding.startswith(("utf-16", "utf-32"))
    return broken_line(path) if counted else None


def is_set(options: Mapping[str, str], name: str) -> bool:
    """Whether an option is true."""
    return str(options.get(name, "")).lower() == "true"


def opened(path: Path, options: Mapping[str, str]) -> TextIOBase:
    """The text of a file, as Spark would decode it."""
    encoding = options.get("encoding") or options.get("charset") or "utf-8"
    newline = "" if options.get("linesep") else None
    opener = OPENERS.get(path.suffix, open)
    return cast(
        TextIOBase, opener(path, "rt", encoding=encoding, errors="replace", newline=newline)
    )


def lines_of(file: TextIOBase, separator: str | None) -> Iterator[str]:
    """The lines of a text without their ends."""
    if separator is None:
        for line in file:
            yield line.removesuffix("\n")
        return
    yield from file.read().split(separator)


def in_text(text: str, left: Counter[str], format: str) -> Iterator[Located]:
    """Where records of several lines begin, in the order of the text; takes them from ``left``.

    Of XML and JSON Spark may give the whole file for a row in it: such a record has no line.
    """
    places: list[tuple[int, str]] = []
    for record in sorted(left):
        if format != "csv" and record.strip() == text.strip():
            continue
        at = 0
        while left[record] and record and (at := text.find(record, at)) >= 0:
            places.append((at, record))
            left[record] -= 1
            at += len(record)
    for at, record in sorted(places):
        yield text.count("\n", 0, at) + 1, record
