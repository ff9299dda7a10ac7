"""Durable batches on disk: written under another name, synced, renamed, and only then spoken of.

A file that no metadata row names does not exist as far as recovery is concerned. It stays as long
as somebody in this process holds its Reference, and is garbage after that.
"""

import os
import shutil
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from falkirk.core.errors import StoreError, StoreOutageError
from falkirk.store import checksum
from falkirk.store.parquet import BROKEN, decoded, encoded, row_count, united
from falkirk.store.reference import Reference

WRITING = ".writing"


class DamageError(StoreError):
    """The bytes of a durable batch are not those that were written."""


class Files:
    """The data folder of a store. Safe to use from several threads."""

    def __init__(self, folder: Path, durable: bool = True) -> None:
        """Batches in ``folder``; without ``durable`` nothing is synced."""
        self.folder, self.durable = folder, durable
        self.users: Callable[[str], str] = lambda name: ""
        self.fill: Callable[[Path, Any], None] = self.filled
        self.removed_bytes = 0
        self._held: WeakValueDictionary[str, Reference] = WeakValueDictionary()
        self._reserved: set[str] = set()
        self._written: set[str] = set()
        self._unsynced = False
        self._lock, self._syncing = threading.Lock(), threading.Lock()

    def write(self, table: Any) -> Reference:
        """Writes a small batch; it will be durable when :meth:`sync` returns."""
        content = encoded(table)
        size, digest = checksum.of_bytes(memoryview(content))
        name = uuid.uuid4().hex + ".parquet"
        reference = self.hold(Reference(name, "file", table.num_rows, size, digest))
        path, temporary = self.folder / name, self.folder / (name + WRITING)
        with self._writing(name):
            try:
                self.fill(temporary, content)
                temporary.rename(path)
            except OSError as error:
                with suppress(OSError):
                    temporary.unlink(missing_ok=True)
                raise StoreOutageError(
                    f"cannot write {path}: {error.strerror or error}; free some space or choose"
                    " another place, and try again"
                ) from error
            self._unsynced = True
        return reference

    def filled(self, path: Path, content: Any) -> None:
        """Writes ``content`` to ``path`` and forces it to the disk."""
        with path.open("wb") as file:
            file.write(content)
            file.flush()
            if self.durable:
                os.fsync(file.fileno())

    def read(self, reference: Reference) -> Any:
        """The batch, or a StoreError if its bytes are not those that were written."""
        path = self.folder / reference.name
        problem = self.problem(reference, verify=reference.kind == "folder")
        if problem is None:
            try:
                if reference.kind == "folder":
                    return united(checksum.parts(path))
                content = path.read_bytes()
                if checksum.of_bytes(content).checksum == reference.checksum:
                    return decoded(content)
                problem = "its checksum is wrong"
            except BROKEN as error:
                problem = str(error)
        raise DamageError(self.complaint(reference.name, problem))

    def complaint(self, name: str, problem: str) -> str:
        """What is wrong with a batch, and who needs it."""
        return (
            f"{self.folder / name} is damaged: {problem}{self.users(name)}; start again, so that"
            " recovery falls back to a checkpoint that does not need it, or restore the file"
        )

    def problem(self, reference: Reference, verify: bool = False) -> str | None:
        """What is wrong with a batch, if anything; without ``verify`` only its size is compared."""
        path = self.folder / reference.name
        try:
            if reference.kind == "folder":
                if not path.is_dir():
                    return "it is missing"
                found = (
                    checksum.of_folder(path)
                    if verify
                    else checksum.Sum(folder_size(path), reference.checksum)
                )
            elif not path.is_file():
                return "it is missing"
            elif verify:
                found = checksum.of_file(path)
            else:
                found = checksum.Sum(path.stat().st_size, reference.checksum)
        except OSError as error:
            return f"it cannot be read: {error.strerror or error}"
        if found.size != reference.size:
            return f"it has {found.size} bytes instead of {reference.size}"
        return None if found.checksum == reference.checksum else "its checksum is wrong"

    def reserve(self) -> tuple[str, str]:
        """A new name, and the path at which Spark is to write a folder; :meth:`seal` it then."""
        name = uuid.uuid4().hex
        with self._lock:
            self._reserved.add(name)
            self._written.add(name)
        return name, str(self.folder / name)

    def seal(self, name: str) -> Reference:
        """Makes the folder that Spark wrote at a reserved name durable."""
        path = self.folder / name
        if name not in self._reserved or not path.is_dir():
            raise StoreError(f"nothing was written at {path}: reserve a name, write, then seal it")
        try:
            found = checksum.parts(path)
            if self.durable:
                for part in [*found, *{part.parent for part in found}, path]:
                    sync_path(part)
            size, digest = checksum.of_folder(path)
            rows = row_count(found)
        except BROKEN as error:
            raise StoreError(f"cannot seal {path}: {error}; write it again") from error
        reference = self.hold(Reference(name, "folder", rows, size, digest))
        self._unsynced = True
        self.abandon(name)
        return reference

    def abandon(self, name: str) -> None:
        """Gives a reserved name up: whatever was written there is garbage."""
        with self._lock:
            self._reserved.discard(name)

    def path(self, reference: Reference) -> str:
        """Where Spark reads the batch."""
        return str(self.folder / reference.name)

    def delete(self, reference: Reference) -> None:
        """Deletes a batch that was never handed to a transaction."""
        self.remove(reference.name)

    def sync(self) -> None:
        """Makes the names of all files that were written so far durable."""
        with self._syncing:  # who finds nothing to do must know that it is done, not just begun
            if not self._unsynced:
                return
            self._unsynced = False
            try:
                if self.durable:
                    sync_path(self.folder)
            except OSError as error:
                self._unsynced = True
                raise StoreOutageError(f"cannot sync {self.folder}: {error}; try again") from error

    def hold(self, reference: Reference) -> Reference:
        """The one Reference of this batch in this process: while it lives, so does the file."""
        with self._lock:
            return self._held.setdefault(reference.name, reference)

    def in_use(self, name: str) -> bool:
        """Whether somebody in this process writes or holds ``name``."""
        with self._lock:
            return name in self._reserved or name in self._held

    def idle(self, name: str, since: float) -> bool:
        """Whether nobody uses ``name``, and this process wrote it or it is older than ``since``."""
        if self.in_use(name):
            return False
        try:
            return name in self._written or (self.folder / name).stat().st_mtime < since
        except OSError:
            return False

    def size_of(self, name: str) -> int:
        """How many bytes whatever has this name takes; 0 if it is gone by now."""
        path = self.folder / name
        with suppress(OSError):
            return folder_size(path) if path.is_dir() else path.stat().st_size
        return 0

    def names(self) -> list[str]:
        """Everything in the data folder."""
        return sorted(entry.name for entry in os.scandir(self.folder))

    def remove(self, name: str) -> int | None:
        """Deletes whatever has this name, and says how many bytes that were; None if it could not.

        What cannot be deleted now is found again by the next sweep.
        """
        path = self.folder / name
        self._written.discard(name)
        size = self.size_of(name)
        with suppress(OSError):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
            self.removed_bytes += size
            return size
        return None

    @contextmanager
    def _writing(self, name: str) -> Iterator[None]:
        names = (name, name + WRITING)
        with self._lock:
            self._reserved.update(names)
            self._written.update(names)
        try:
            yield
        finally:
            with self._lock:
                self._reserved.difference_update(names)
                self._written.discard(name + WRITING)


def folder_size(path: Path) -> int:
    """The bytes of the data files of a folder."""
    return sum(part.stat().st_size for part in checksum.parts(path))


def sync_path(path: Path) -> None:
    """Forces a file, or the names in a folder, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
