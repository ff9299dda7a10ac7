"""Parquet files as a sink: a folder for each time, which appears whole or not at all."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from falkirk.core.errors import PermanentError
from falkirk.core.times import Time
from falkirk.disk import sync_path

OWNER = ".falkirk.json"
"""The file that says which output of which store a folder belongs to; readers pass over it."""


@dataclass(frozen=True, slots=True)
class ParquetSink:
    """Writes ``path/epoch=N/``, which Spark and Arrow read as one table with a column ``epoch``.

    A time that is there already is left as it is, so writing it again changes nothing. The folder
    belongs to one output of one store: epoch 0 of another store is another epoch 0, and is refused.
    With ``replace`` what another store has left is deleted instead.
    """

    path: str | Path
    replace: bool = False

    exactly_once = True

    def attach(self, name: str, store: str) -> None:
        """Takes the folder for an output of a store, or refuses one that holds another's."""
        folder = Path(self.path)
        owner = {"output": name, "store": store}
        known = read_owner(folder)
        if known == owner:
            return
        epochs = sorted(folder.glob("epoch=*"))
        if epochs and known is not None and known["store"] == store:
            raise PermanentError(
                f"{folder} has the output {known['output']!r} of this flow: the epochs of two"
                f" outputs would be mixed, so give {name!r} a folder of its own"
            )
        if epochs and not self.replace:
            raise PermanentError(
                f"{folder} has epochs of another store, or of one that is gone: they would be"
                " taken for this one's. Move them away, write to another folder, or give"
                " replace=True to have them deleted"
            )
        for epoch in epochs:
            shutil.rmtree(epoch)
        write_owner(folder, owner)

    def undo(self, name: str, kept: Any) -> None:
        """Deletes the epochs that do not lie in ``kept``: a person has taken them back."""
        for folder in sorted(Path(self.path).glob("epoch=*")):
            if (int(folder.name.partition("=")[2]),) not in kept:
                shutil.rmtree(folder)
        if Path(self.path).is_dir():
            sync_path(Path(self.path))

    def write(self, name: str, time: Time, batch: Any) -> None:
        """Writes into a hidden folder and renames that."""
        import pyarrow.parquet as pq  # type: ignore[import-untyped]

        folder = Path(self.path) / f"epoch={time[0]}"
        if folder.exists():
            return
        hidden = Path(self.path) / f".{name}-{time[0]}"
        shutil.rmtree(hidden, ignore_errors=True)
        if batch.small:
            hidden.mkdir(parents=True)
            pq.write_table(batch.arrow(), hidden / "part-0.parquet")
            sync_path(hidden / "part-0.parquet")
        else:
            batch.frame.write.parquet(str(hidden))
            for part in hidden.iterdir():
                sync_path(part)
        sync_path(hidden)
        hidden.rename(folder)
        sync_path(folder.parent)


def read_owner(folder: Path) -> Any:
    """Which output of which store a folder belongs to, None if nobody has said so."""
    try:
        return json.loads((folder / OWNER).read_text("utf-8"))
    except FileNotFoundError:
        return None


def write_owner(folder: Path, owner: Any) -> None:
    """Says whom a folder belongs to; it is made if it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    fresh = folder / f"{OWNER}.new"
    fresh.write_text(json.dumps(owner), "utf-8")
    sync_path(fresh)
    fresh.rename(folder / OWNER)
    sync_path(folder)
