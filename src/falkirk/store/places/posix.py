"""A folder: written under another name, synced, renamed, and only then spoken of."""

import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from falkirk.disk import sync_path
from falkirk.store.places.protocol import Part, in_order, is_data

WRITING = ".writing"
CHUNK_BYTES = 1 << 20


class Posix:
    """A folder in which rename is atomic and fsync means it."""

    def __init__(self, folder: Path, durable: bool = True, base: str | None = None) -> None:
        """The folder ``folder``; without ``durable`` nothing is synced.

        ``base`` is what Spark calls it, if that is not its path.
        """
        self.folder, self.durable = folder, durable
        self.base = str(folder) if base is None else base

    @property
    def shown(self) -> str:
        """Its path."""
        return str(self.folder)

    def prepare(self, make: bool) -> None:
        """Makes the folder, whose name lasts."""
        self.folder.mkdir(parents=True, exist_ok=True)
        sync_path(self.folder.parent)

    def clock(self, now: float) -> float:
        """A disk has the clock of its machine."""
        return now

    def unfinished(self, name: str) -> str:
        """Half a file is never seen under the name of a whole one."""
        return name + WRITING

    def fill(self, name: str, content: Any) -> None:
        """Writes ``content`` and forces it to the disk."""
        with (self.folder / name).open("wb") as file:
            file.write(content)
            file.flush()
            if self.durable:
                os.fsync(file.fileno())

    def finish(self, name: str) -> None:
        """Renames a file that is whole."""
        (self.folder / (name + WRITING)).rename(self.folder / name)

    def get(self, name: str) -> bytes:
        """The content of a file."""
        return (self.folder / name).read_bytes()

    def chunks(self, name: str) -> Iterator[bytes]:
        """The content of a file, piece by piece."""
        with (self.folder / name).open("rb") as file:
            while chunk := file.read(CHUNK_BYTES):
                yield chunk

    def source(self, name: str) -> Any:
        """The path."""
        return self.folder / name

    def size(self, name: str) -> int:
        """How large a file is."""
        path = self.folder / name
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise FileNotFoundError(path)
        return found.st_size

    def parts(self, name: str) -> list[Part]:
        """The data files of a folder."""
        path = self.folder / name
        if not path.is_dir():
            raise FileNotFoundError(path)
        return [Part(str(part.relative_to(path)), part.stat().st_size) for part in data_files(path)]

    def settle(self, name: str, parts: Sequence[Part]) -> None:
        """Forces every file and every folder to the disk."""
        if self.durable:
            path = self.folder / name
            found = [path / part.name for part in parts]
            for each in [*found, *{part.parent for part in found}, path]:
                sync_path(each)

    def is_folder(self, name: str) -> bool:
        """Whether this is a folder."""
        return (self.folder / name).is_dir()

    def names(self) -> list[str]:
        """Everything in the folder."""
        return sorted(entry.name for entry in os.scandir(self.folder))

    def sizes(self) -> None:
        """A disk may be asked one by one."""

    def modified(self, name: str) -> float | None:
        """When this was last written to."""
        return (self.folder / name).stat().st_mtime

    def delete(self, name: str) -> None:
        """Deletes a file or a folder."""
        path = self.folder / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()

    def sync(self) -> None:
        """Forces the names in the folder to the disk."""
        if self.durable:
            sync_path(self.folder)

    def address(self, name: str) -> str:
        """The path, or Hadoop's address of it."""
        return f"{self.base}/{name}"


def data_files(path: Path) -> list[Path]:
    """The data files of a folder, sorted; Spark's markers and checksum files are none."""
    found = [part for part in path.rglob("*") if part.is_file()]
    names = [Part(str(part.relative_to(path)), 0) for part in found]
    return [path / part.name for part in in_order([each for each in names if is_data(each.name)])]
