"""Pages of text and tables: calm on a terminal, plain in a pipe, and as JSON when asked."""

import io
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from typing import Any

import click
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from falkirk.cli.drawing import ASCII
from falkirk.cli.printing import print_json, speaks_unicode

PIPE_COLUMNS = 160
"""How wide a page is where nobody says: a program reads it, or a pager."""

NAMES_MAX = 20
"""More processors of whom the same is said are not named one by one; JSON has them all."""

GOOD, BAD, ODD, FAINT, STRONG = "green", "bold red", "yellow", "dim", "bold"
PLAIN = str.maketrans(
    {"✓": "+", "✗": "x", "!": "!", "←": "<-", "§": "section ", "•": "*", "…": "..."}
)


def together(said: Mapping[str, str], by: str) -> str:
    """What is said of many, with those of whom the same is said in one place.

    >>> together({"a": "epoch 1", "b": "epoch 2", "c": "epoch 1"}, "to")
    'a, c to epoch 1; b to epoch 2'
    """
    places: dict[str, list[str]] = {}
    for name, words in said.items():
        places.setdefault(words, []).append(name)
    return "; ".join(
        f"{f'{len(names)} processors' if len(names) > NAMES_MAX else ', '.join(names)} {by} {words}"
        for words, names in places.items()
    )


class Page:
    """Collects what a command says, and prints it at the end of the ``with``."""

    def __init__(self) -> None:
        """A page as wide as the terminal."""
        self.unicode = speaks_unicode()
        self.file = io.StringIO()
        width = None
        probe = Console()
        if not probe.is_terminal and "COLUMNS" not in os.environ:
            width = PIPE_COLUMNS
        self.console = (
            Console(highlight=False, width=width, soft_wrap=False)
            if self.unicode
            else Console(highlight=False, file=self.file, width=width or probe.width)
        )

    def __enter__(self) -> "Page":
        return self

    def __exit__(self, *_: Any) -> None:
        if not self.unicode:
            click.echo(self.file.getvalue().translate(ASCII).translate(PLAIN), nl=False)

    def title(self, text: str, beside: str = "") -> None:
        """What the page is about."""
        self.console.print(
            Text.assemble((text, STRONG), ("  " if beside else "", ""), (beside, FAINT))
        )

    def heading(self, text: str) -> None:
        """Begins a part."""
        self.console.print()
        self.console.print(Text(text, "bold cyan"))

    def line(self, *parts: str | tuple[str, str], indent: int = 2) -> None:
        """One paragraph of pieces, each a text or a text and a style."""
        said = Text.assemble(*parts)
        self.console.print(Padding(said, (0, 0, 0, indent), expand=False))

    def space(self) -> None:
        """An empty line."""
        self.console.print()

    def table(
        self,
        columns: Sequence[str],
        rows: Iterable[Sequence[Any]],
        right: Sequence[str] = (),
    ) -> None:
        """A table without lines; a column in ``right`` holds numbers."""
        table = Table(box=None, header_style=FAINT, padding=(0, 2, 0, 0), pad_edge=False)
        table.add_column("", width=0)
        for name in columns:
            numbers = name in right
            table.add_column(
                name, justify="right" if numbers else "left", no_wrap=numbers, overflow="fold"
            )
        for row in rows:
            table.add_row(
                "", *(cell if isinstance(cell, Text) else Text(str(cell)) for cell in row)
            )
        self.console.print(table)


def as_json(value: Any) -> None:
    """Prints an answer as JSON: its fields by their names."""
    print_json(
        plain_values(
            asdict(value) if is_dataclass(value) and not isinstance(value, type) else value
        )
    )


def plain_values(value: Any) -> Any:
    """Tuples as lists, at any depth."""
    if isinstance(value, dict):
        return {key: plain_values(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain_values(each) for each in value]
    return value


def faint(text: str) -> Text:
    """Something that matters less."""
    return Text(text, FAINT)


def strong(text: str) -> Text:
    """A name that matters."""
    return Text(text, STRONG)
