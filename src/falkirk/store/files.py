"""Durable batches: whole at their place before anything speaks of them.

A file that no metadata row names does not exist as far as recovery is concerned. It stays as long
as somebody in this process holds its Reference, and is garbage after that.
"""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any
from weakref import WeakValueDictionary

from falkirk.core.errors import StoreError, StoreOutageError
from falkirk.store import checksum
from falkirk.store.parquet import (
    BROKEN,
    NotParquetError,
    decoded,
    encoded,
    in_one,
    row_count,
    united,
)
from falkirk.store.places.protocol import Place, UnreachableError
from falkirk.store.reference import Piece, Reference, new_name


class DamageError(StoreError):
    """The bytes of a durable batch are not those that were written."""


class Files:
    """The batches of a store. Safe to use from several threads."""

    def __init__(self, place: Place) -> None:
        """Batches at ``place``."""
        self.place = place
        self.users: Callable[[str], str] = lambda name: ""
        self.fill: Callable[[str, Any], None] = place.fill
        self.removed_bytes = 0
        self._held: WeakValueDictionary[str, Reference] = WeakValueDictionary()
        self._reserved: set[str] = set()
        self._written: set[str] = set()
        self._unsynced = False
        self._read_last: tuple[str, Any] = ("", None)
        self._lock, self._syncing = threading.Lock(), threading.Lock()

    def write(self, table: Any, piece: Piece | None = None) -> Reference:
        """Writes a small batch; it will be durable when :meth:`sync` returns."""
        content = encoded(table)
        size, digest = checksum.of_bytes(memoryview(content))
        name = new_name(piece) + ".parquet"
        reference = self.hold(Reference(name, "file", table.num_rows, size, digest))
        unfinished = self.place.unfinished(name)
        with self._writing(name, unfinished):
            try:
                self.fill(unfinished, content)
                self.place.finish(name)
            except OSError as error:
                with suppress(OSError):
                    self.place.delete(unfinished)
                raise StoreOutageError(
                    f"cannot write {self.told(name)}: {error.strerror or error}; free some space"
                    " or choose another place, and try again"
                ) from error
            self._unsynced = True
        return reference

    def write_together(self, tables: Sequence[Any]) -> list[Reference]:
        """Writes small batches of the same columns into one file, of which each is a part."""
        whole, start, parts = self.write(in_one(tables)), 0, []
        for table in tables:
            parts.append(whole.part(start, table.num_rows))
            start += table.num_rows
        return parts

    def read(self, reference: Reference) -> Any:
        """The batch, or a StoreError if its bytes are not those that were written."""
        if reference.within is not None:
            return self._shared(reference.within).slice(reference.start, reference.rows)
        try:
            with self._reaching(reference.name):
                if reference.kind == "folder":
                    return self._folder(reference)
                content = self.place.get(reference.name)
                check(checksum.of_bytes(content), reference)
                return decoded(content)
        except FileNotFoundError:
            problem = "it is missing"
        except BROKEN as error:
            problem = getattr(error, "strerror", None) or str(error)
        raise DamageError(self.complaint(reference.name, problem))

    def _shared(self, whole: Reference) -> Any:
        """A file that batches share; who needs one of them mostly needs the others next."""
        name, table = self._read_last
        if name != whole.name:
            table = self.read(whole)
            self._read_last = whole.name, table
        return table

    def _folder(self, reference: Reference) -> Any:
        """The batch in a folder: what is checked is what is decoded."""
        name = reference.name
        found = self.place.parts(name)
        check(checksum.Sum(sum(part.size for part in found), reference.checksum), reference)
        contents = [self.place.get(f"{name}/{part.name}") for part in found]
        check(checksum.of_parts(zip(found, contents, strict=True)), reference)
        return united(contents)

    def complaint(self, name: str, problem: str) -> str:
        """What is wrong with a batch, and who needs it."""
        return (
            f"{self.told(name)} is damaged: {problem}{self.users(name)}; start again, so that"
            " recovery falls back to a checkpoint that does not need it, or restore the file"
        )

    def sizes(self) -> Mapping[str, int] | None:
        """How large everything is, for :meth:`problem`; None where that had better ask itself."""
        with self._reaching(""):
            return self.place.sizes()

    def problem(
        self, reference: Reference, verify: bool = False, sizes: Mapping[str, int] | None = None
    ) -> str | None:
        """What is wrong with a batch, if anything; without ``verify`` only its size is compared.

        ``sizes`` has those that were asked for before.
        """
        name, folder = reference.name, reference.kind == "folder"
        try:
            with self._reaching(name):
                if sizes is not None and not verify:
                    if name not in sizes:
                        return "it is missing"
                    check(checksum.Sum(sizes[name], reference.checksum), reference)
                    return None
                found = self.place.parts(name) if folder else []
                if not verify:
                    size = sum(part.size for part in found) if folder else self.place.size(name)
                    check(checksum.Sum(size, reference.checksum), reference)
                elif folder:
                    check(checksum.of_folder(self.place, name, found), reference)
                else:
                    check(checksum.of_file(self.place, name), reference)
        except FileNotFoundError:
            return "it is missing"
        except NotParquetError as error:
            return str(error)
        except OSError as error:
            return f"it cannot be read: {error.strerror or error}"
        return None

    def refusal(self, reference: Reference) -> str | None:
        """What speaks against naming a batch in a row; of our own we know that it is there.

        A disk is asked all the same, for that costs nothing.
        """
        known = self.place.folder is None and reference.name in self._written
        return None if known else self.problem(reference)

    def reserve(self, piece: Piece | None = None) -> tuple[str, str]:
        """A new name, and the path at which Spark is to write a folder; :meth:`seal` it then."""
        name = new_name(piece)
        with self._lock:
            self._reserved.add(name)
            self._written.add(name)
        return name, self.place.address(name)

    def seal(self, name: str) -> Reference:
        """Makes the folder that Spark wrote at a reserved name durable."""
        try:
            with self._reaching(name):
                if name not in self._reserved:
                    raise FileNotFoundError(name)
                found = self.place.parts(name)
                self.place.settle(name, found)
                size, digest = checksum.of_folder(self.place, name, found)
                rows = row_count(self.place.source(f"{name}/{part.name}") for part in found)
        except FileNotFoundError as error:
            raise StoreError(
                f"nothing was written at {self.told(name)}: reserve a name, write, then seal it"
            ) from error
        except BROKEN as error:
            far = self.place.folder is None and isinstance(error, OSError)
            kind = StoreOutageError if far else StoreError
            raise kind(f"cannot seal {self.told(name)}: {error}; write it again") from error
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
        return self.place.address(reference.name)

    def told(self, name: str) -> str:
        """Where people find the batch."""
        return f"{self.place.shown}/{name}"

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
                self.place.sync()
            except OSError as error:
                self._unsynced = True
                raise StoreOutageError(
                    f"cannot sync {self.place.shown}: {error}; try again"
                ) from error

    def clock(self, now: float) -> float:
        """What time it is where the batches are, while it is ``now`` here."""
        with self._reaching(""):
            return self.place.clock(now)

    def hold(self, reference: Reference) -> Reference:
        """The one Reference of this batch in this process: while it lives, so does the file."""
        with self._lock:
            return self._held.setdefault(reference.name, reference)

    def in_use(self, name: str) -> bool:
        """Whether somebody in this process writes or holds ``name``."""
        with self._lock:
            return name in self._reserved or name in self._held

    def ripe(self, name: str, since: float) -> bool:
        """Whether this process wrote what has this name, or it is older than ``since``."""
        if name in self._written:
            return True
        with suppress(OSError):
            modified = self.place.modified(name)
            return modified is not None and modified < since
        return False

    def size_of(self, name: str) -> int:
        """How many bytes whatever has this name takes; 0 if it is gone by now."""
        with suppress(OSError):
            if self.place.is_folder(name):
                return sum(part.size for part in self.place.parts(name))
            return self.place.size(name)
        return 0

    def names(self) -> list[str]:
        """Everything that is there."""
        with self._reaching(""):
            return self.place.names()

    def remove(self, name: str) -> int | None:
        """Deletes whatever has this name, and says how many bytes that were; None if it could not.

        What cannot be deleted now is found again by the next sweep.
        """
        self._written.discard(name)
        size = self.size_of(name)
        with suppress(OSError):
            self.place.delete(name)
            self.removed_bytes += size
            return size
        return None

    @contextmanager
    def _reaching(self, name: str) -> Iterator[None]:
        """A place that does not answer has said nothing about what is there."""
        try:
            yield
        except UnreachableError as error:
            where = self.told(name).rstrip("/")
            raise StoreOutageError(
                f"cannot reach {where}: {error}; see whether the file system is up and lets this"
                " process in, and try again. If the file is lost for good, delete what is left of"
                " it, and recovery does without"
            ) from error

    @contextmanager
    def _writing(self, name: str, unfinished: str) -> Iterator[None]:
        with self._lock:
            self._reserved.update((name, unfinished))
            self._written.update((name, unfinished))
        try:
            yield
        finally:
            with self._lock:
                self._reserved.difference_update((name, unfinished))
                if unfinished != name:
                    self._written.discard(unfinished)


def check(found: checksum.Sum, wanted: Reference) -> None:
    """Raises if something is not what was written."""
    if found.size != wanted.size:
        raise NotParquetError(f"it has {found.size} bytes instead of {wanted.size}")
    if found.checksum != wanted.checksum:
        raise NotParquetError("its checksum is wrong")
