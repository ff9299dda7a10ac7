"""Any file system that Arrow reaches: object stores, HDFS, and those of fsspec.

There is no rename and nothing to sync. A file is written under its own name, which nobody uses
before the file is whole: a name is new for every batch, and it is visible only by its row. What a
process leaves half-written when it dies is found by its age.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any
from uuid import uuid4

from falkirk.store.places.protocol import Part, UnreachableError, in_order, is_data

CHUNK_BYTES = 4 << 20
MARK = "falkirk-clock-"
"""What a file begins with that is written to see whether one can, and what time it is there."""

FLAT = ("s3",)
"""Where there are only files, and one listing has them all. A list of folders would be a list of
what their names begin with, and some servers keep those of folders that are gone."""

SEEN = "_falkirk-seen"
"""A file that dates a folder without files; to Spark and to checksums it is no data."""


class Arrow:
    """A folder of a file system that answers calls over a network."""

    folder = None

    def __init__(self, filesystem: Any, root: str, base: str, shown: str) -> None:
        """The folder ``root`` of Arrow's ``filesystem``, which Spark calls ``base``."""
        self.filesystem, self.root, self.base, self.shown = filesystem, root, base, shown
        self.flat = filesystem.type_name in FLAT

    def prepare(self, make: bool) -> None:
        """Looks whether it answers; makes the folder where there are folders."""
        with self._asked():
            if make:
                self.filesystem.create_dir(self.root, recursive=True)
            else:
                self.filesystem.get_file_info(self.root)

    def clock(self, now: float) -> float:
        """Writes a file, looks when that was, and deletes it."""
        name = MARK + uuid4().hex
        self.fill(name, b"falkirk")
        found = self.modified(name)
        with suppress(OSError):
            self.delete(name)
        return float("-inf") if found is None else found

    def unfinished(self, name: str) -> str:
        """The name itself: nobody speaks of it before it is whole."""
        return name

    def fill(self, name: str, content: Any) -> None:
        """Writes a file."""
        with self._asked():
            if "/" in name:
                folder = self._at(name).rpartition("/")[0]
                self.filesystem.create_dir(folder, recursive=True)
            with self.filesystem.open_output_stream(self._at(name)) as stream:
                stream.write(content)

    def finish(self, name: str) -> None:
        """There is nothing left to do."""

    def get(self, name: str) -> bytes:
        """The content of a file."""
        return b"".join(self.chunks(name))

    def chunks(self, name: str) -> Iterator[bytes]:
        """The content of a file, piece by piece; too little of it is no content at all."""
        with self._asked():
            wanted = self.size(name)
            read = 0
            with self.filesystem.open_input_file(self._at(name)) as stream:
                while read < wanted and (chunk := stream.read(CHUNK_BYTES)):
                    read += len(chunk)
                    yield chunk
            if read != wanted:
                raise UnreachableError(f"{name} has {wanted} bytes, and {read} came")

    def source(self, name: str) -> Any:
        """The open file."""
        with self._asked():
            return self.filesystem.open_input_file(self._at(name))

    def size(self, name: str) -> int:
        """How large a file is."""
        found = self._info(name)
        if not found.is_file:
            raise FileNotFoundError(f"{self.shown}/{name}")
        return int(found.size)

    def parts(self, name: str) -> list[Part]:
        """The data files of a folder."""
        found = [Part(self._inside(name, each), each.size) for each in self._files(name)]
        return in_order([part for part in found if is_data(part.name)])

    def settle(self, name: str, parts: Sequence[Part]) -> None:
        """What Spark has written lasts as the file system has it."""

    def is_folder(self, name: str) -> bool:
        """Whether this is a folder."""
        return bool(self._info(name).type.name == "Directory")

    def names(self) -> list[str]:
        """The names of everything that is there; a bucket has no folder where no file is."""
        if self.flat:
            return sorted(self.sizes())
        found = self._listed(self.root, recursive=False, missing=True)
        return sorted(each.base_name for each in found)

    def sizes(self) -> dict[str, int]:
        """The bytes of everything that is there, by one listing; of folders, their data files."""
        found: dict[str, int] = {}
        for each in self._listed(self.root, recursive=True, missing=True):
            name, _, part = self._inside("", each).partition("/")
            size = each.size if each.is_file and is_data(part) else 0
            found[name] = found.get(name, 0) + size
        return found

    def modified(self, name: str) -> float | None:
        """When this was last written to; where folders have no time, that of their newest file.

        A folder without time and files is what Spark leaves in a bucket if it dies early. It is
        dated now, so that who comes next knows that it is older.
        """
        found = self._info(name)
        times = [found.mtime_ns]
        if found.mtime_ns is None and not found.is_file:
            files = self._files(name)
            if not files:
                self.fill(f"{name}/{SEEN}", b"falkirk")
            times = [each.mtime_ns for each in files]
        return max((time / 1e9 for time in times if time is not None), default=None)

    def delete(self, name: str) -> None:
        """Deletes a file or a folder."""
        if self.is_folder(name):
            with self._asked():
                self.filesystem.delete_dir(self._at(name))
        else:
            with self._asked():
                self.filesystem.delete_file(self._at(name))

    def sync(self) -> None:
        """A file that was written has its name."""

    def address(self, name: str) -> str:
        """Hadoop's address of it."""
        return f"{self.base}/{name}"

    def _at(self, name: str) -> str:
        return f"{self.root}/{name}"

    def _info(self, name: str) -> Any:
        with self._asked():
            found = self.filesystem.get_file_info(self._at(name))
        if found.type.name == "NotFound":
            raise FileNotFoundError(f"{self.shown}/{name}")
        return found

    def _files(self, name: str) -> list[Any]:
        """All files below a folder."""
        found = self._listed(self._at(name), recursive=True)
        return [each for each in found if each.is_file]

    def _listed(self, path: str, recursive: bool, missing: bool = False) -> list[Any]:
        """What is in a folder; with ``missing`` one that is not there is empty."""
        from pyarrow.fs import FileSelector  # type: ignore[import-untyped]

        with self._asked():
            chosen = FileSelector(path, allow_not_found=missing, recursive=recursive)
            return list(self.filesystem.get_file_info(chosen))

    def _inside(self, name: str, found: Any) -> str:
        """The path of a file inside the folder ``name``, whatever the listing begins with."""
        return str(found.path.strip("/").removeprefix(self._at(name).strip("/"))).strip("/")

    @contextmanager
    def _asked(self) -> Iterator[None]:
        """Only that something is not there is an answer; any other complaint is none."""
        try:
            yield
        except (FileNotFoundError, UnreachableError):
            raise
        except Exception as error:
            raise UnreachableError(told(error)) from error


def told(error: Exception) -> str:
    """What a file system complains about, without the options of addresses: one may be a token.

    >>> told(ValueError("no answer from http://host/path?op=OPEN&delegation=hush (timed out)"))
    'no answer from http://host/path (timed out)'
    """
    said = str(error).strip() or type(error).__name__
    return re.sub(r"\?[^\s'\")]*", "", said.splitlines()[0])
