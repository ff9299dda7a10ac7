"""Files in a folder as a source: any format that Spark reads, each file once."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from falkirk.core.errors import ConnectorError
from falkirk.dataflow.connecting import Limit

COMPRESSED = {"parquet": 8, "orc": 8, "avro": 4}
"""How much larger rows of a format are in memory than in the file, at a guess."""


@dataclass(frozen=True, slots=True)
class Files:
    """The files of a folder, in the order of their names or of their modification.

    Without ``watch`` the source ends after the files that are there; with it, it waits for more. A
    file must be complete when it appears: write it elsewhere and move it in. A file that appears
    before the position in the order (an earlier name, or an older time) is not seen any more.
    Names that begin with a dot or an underscore are passed over.
    """

    path: str | Path
    format: str = "parquet"
    schema: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    order: str = "modified"
    watch: bool = False

    replayable = True

    def __post_init__(self) -> None:
        """Refuses an order that nobody knows."""
        if self.order not in ("modified", "name"):
            raise ConnectorError(f"files are ordered by 'modified' or 'name', not {self.order!r}")

    def initial(self) -> Any:
        """Before the first file."""
        return [0, ""]

    def latest(self, start: Any, limit: Limit) -> Any:
        """The last file of the next epoch."""
        waiting = self._after(start)
        if limit.files is not None:
            waiting = waiting[: limit.files]
        return list(waiting[-1]) if waiting else start

    def read(self, session: Any, start: Any, end: Any) -> Any:
        """A plan that reads the files after ``start`` up to ``end``."""
        reader = session.read.format(self.format).options(**self.options)
        if self.schema is not None:
            reader = reader.schema(self.schema)
        return reader.load([str(Path(self.path) / name) for _, name in self._between(start, end)])

    def size(self, start: Any, end: Any) -> int | None:
        """About how many bytes there are between two positions."""
        files = [Path(self.path) / name for _, name in self._between(start, end)]
        return sum(file.stat().st_size for file in files) * COMPRESSED.get(self.format, 1)

    def finished(self, position: Any) -> bool:
        """Whether all files are read and no more are waited for."""
        return not self.watch and not self._after(position)

    def commit(self, end: Any) -> None:
        """Files stay where they are."""

    def _between(self, start: Any, end: Any) -> list[tuple[int, str]]:
        found = [file for file in self._after(start) if file <= (end[0], end[1])]
        if not found or found[-1] != (end[0], end[1]):
            raise ConnectorError(
                f"{self.path}: the file {end[1]!r} was read before and is gone or has changed;"
                " files must stay as they are until they are acknowledged"
            )
        return found

    def _after(self, position: Any) -> list[tuple[int, str]]:
        folder = Path(self.path)
        if not folder.is_dir():
            raise ConnectorError(f"{self.path} is not a folder")
        found = []
        for entry in folder.iterdir():
            if entry.name.startswith((".", "_")) or not entry.is_file():
                continue
            modified = entry.stat().st_mtime_ns if self.order == "modified" else 0
            if (modified, entry.name) > (position[0], position[1]):
                found.append((modified, entry.name))
        return sorted(found)
