"""Deleting files: those whose last use is gone, and those that no row ever named."""

import threading
from collections.abc import Iterable

from falkirk.core.errors import StoreError
from falkirk.store import statements
from falkirk.store.database import Database
from falkirk.store.files import Files
from falkirk.store.protocol import Garbage
from falkirk.store.several import in_pieces


class Collector:
    """Deletes files once no row names them and nobody in this process holds them."""

    def __init__(self, database: Database, files: Files) -> None:
        """Nothing awaits deletion."""
        self.database, self.files = database, files
        self._doomed: set[str] = set()
        self._lock = threading.Lock()

    def doom(self, names: Iterable[str]) -> None:
        """These have lost their last use, durably: deletes them as soon as nobody holds them."""
        with self._lock:
            self._doomed.update(names)
            ready = {name for name in self._doomed if not self.files.in_use(name)}
            if not ready:
                return
            try:
                # A batch may be in use again: whoever held its Reference has stored it anew.
                unnamed = sorted(ready - self._named(ready))
            except StoreError:
                return  # the transaction stands; these files can go with the next one
            self._doomed -= ready
            for name in unnamed:
                self.files.remove(name)

    def lingering(self, names: Iterable[str]) -> bool:
        """Whether some of these still await deletion, because somebody holds them."""
        self.doom(())
        with self._lock:
            return not self._doomed.isdisjoint(names)

    def sweep(self, since: float) -> Garbage:
        """Deletes what no row names and nobody here holds, if it is ours or older than ``since``.

        Who has lost the lease without knowing it must not delete what the next holder writes.
        """
        # Files are listed before rows are read: what is written in between is not on the list.
        with self._lock, self.database.told("cleaned"):
            candidates = {name for name in self.files.names() if not self.files.in_use(name)}
            unnamed = sorted(candidates - self._named(candidates))
            orphans = [name for name in unnamed if self.files.ripe(name, since)]
            # A name may be gone by now: what was being written has got its proper name since.
            sizes = [size for size in map(self.files.remove, orphans) if size is not None]
            return Garbage(len(sizes), sum(sizes))

    def _named(self, names: set[str]) -> set[str]:
        with self.database.reading() as connection:
            return {
                found
                for piece in in_pieces(names)
                for found in connection.scalars(statements.KNOWN, {"names": piece})
            }
