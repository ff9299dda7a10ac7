"""What a store asks of the place where its batches are: whole things by name, and little else.

A name is that of a file, or of a folder of Parquet that Spark wrote. Nothing is ever changed once
it is there, no name is used twice, and a batch counts only once a row of the metadata names it. So
a place needs no transactions, no locks and no rename.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol


class UnreachableError(OSError):
    """A place does not answer, or refuses to: what is there is as unknown as before."""


class Part(NamedTuple):
    """A data file of a folder: its name inside the folder, with ``/``, and its size in bytes."""

    name: str
    size: int


class Place(Protocol):
    """Where the batches of a store are. Safe to use from several threads.

    What is not there raises a FileNotFoundError; everything else that goes wrong is an OSError, and
    an UnreachableError if it says nothing about what is there.
    """

    @property
    def shown(self) -> str:
        """What people are told that it is called: never with a secret."""

    @property
    def folder(self) -> Path | None:
        """The folder, if it is one that the driver itself sees."""

    def prepare(self, make: bool) -> None:
        """Makes sure that it answers; ``make`` makes it if it is not there."""

    def clock(self, now: float) -> float:
        """What time it is there, by the clock that :meth:`modified` speaks of; ours says ``now``.

        Raises an OSError if nothing can be written there.
        """

    def unfinished(self, name: str) -> str:
        """The name that a file has until it is whole."""

    def fill(self, name: str, content: Any) -> None:
        """Writes ``content`` to a file of this name, and lasts when it returns."""

    def finish(self, name: str) -> None:
        """Gives the unfinished file the name ``name``."""

    def get(self, name: str) -> bytes:
        """The content of a file."""

    def chunks(self, name: str) -> Iterator[bytes]:
        """The content of a file, piece by piece."""

    def source(self, name: str) -> Any:
        """A file as Arrow's reader of Parquet takes it, to read from where it wants."""

    def size(self, name: str) -> int:
        """How large a file is."""

    def parts(self, name: str) -> list[Part]:
        """The data files of a folder, sorted; Spark's markers and checksum files are none."""

    def settle(self, name: str, parts: Sequence[Part]) -> None:
        """Makes sure that a folder that Spark wrote lasts."""

    def is_folder(self, name: str) -> bool:
        """Whether this is the name of a folder."""

    def names(self) -> list[str]:
        """The names of everything that is there."""

    def sizes(self) -> Mapping[str, int] | None:
        """The bytes of all that is there, by name; None where one may as well ask one by one."""

    def modified(self, name: str) -> float | None:
        """When this was last written to, in seconds by the place's own clock; None if unknown."""

    def delete(self, name: str) -> None:
        """Deletes a file, or a folder with all that is in it."""

    def sync(self) -> None:
        """Makes sure that the names of all that was finished last."""

    def address(self, name: str) -> str:
        """What Spark calls it."""


def is_data(name: str) -> bool:
    """Whether a file of a folder has rows: Spark's markers and checksum files have none.

    >>> [is_data(name) for name in ("part-0.parquet", "_SUCCESS", "_temporary/0/part-0.parquet")]
    [True, False, False]
    """
    return not any(piece.startswith(("_", ".")) for piece in name.split("/"))


def in_order(parts: list[Part]) -> list[Part]:
    """Parts folder by folder, as checksums are made."""
    return sorted(parts, key=lambda part: part.name.split("/"))
