"""Files as a sink, in any format that Spark writes: a folder for each time, whole or not there."""

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from falkirk.connectors.file_writers import write_files
from falkirk.core.errors import ConnectorError, PermanentError
from falkirk.core.times import Time
from falkirk.disk import sync_path

OWNER = ".falkirk.json"
"""The file that says which output of which store a folder belongs to; readers pass over it."""

NOT_WRITTEN = {
    "binaryfile": "Spark reads it and does not write it",
    "delta": "a table of Delta Lake is more than its files, and fk.DeltaSink writes one",
}
"""Formats of Spark's that are none of this sink's, and why."""


@dataclass(frozen=True, slots=True)
class FileSink:
    """Writes ``path/epoch=N/``, which Spark reads as one table with a column ``epoch``.

    ``format`` and ``options`` are those of Spark's writers. A time that is there already is left as
    it is, so writing it again changes nothing. The folder belongs to one output of one store, in
    one format: epoch 0 of another store is another epoch 0, and is refused. With ``replace`` what
    another store has left is deleted instead.
    """

    path: str | Path
    format: str = "parquet"
    options: Mapping[str, str] = field(default_factory=dict, repr=False, hash=False)
    replace: bool = False

    exactly_once = True

    def __post_init__(self) -> None:
        """Refuses formats that cannot be written."""
        why = NOT_WRITTEN.get(self.format.lower())
        if why is not None:
            raise ConnectorError(f"files cannot be written as {self.format!r}: {why}")

    @property
    def summary(self) -> str:
        """What it writes, for the explanation of a flow."""
        return f"{self.format} files in {self.path}"

    def attach(self, name: str, store: str) -> None:
        """Takes the folder for an output of a store, or refuses one that holds another's."""
        folder = Path(self.path)
        owner = {"output": name, "store": store}
        if self.format != "parquet":
            owner["format"] = self.format
        known = read_owner(folder)
        if known == owner:
            return
        epochs = sorted(folder.glob("epoch=*"))
        if epochs and known is not None and known["store"] == store:
            raise PermanentError(f"{folder} {shared(known, name, self.format)}")
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
        folder = Path(self.path) / f"epoch={time[0]}"
        if folder.exists():
            return
        hidden = Path(self.path) / f".{name}-{time[0]}"
        shutil.rmtree(hidden, ignore_errors=True)
        write_files(hidden, batch, self.format, self.options)
        for part in hidden.iterdir():
            sync_path(part)
        sync_path(hidden)
        hidden.rename(folder)
        sync_path(folder.parent)


def shared(known: Mapping[str, str], name: str, format: str) -> str:
    """Why the folder of an output is not for another one, or for another format."""
    if known["output"] != name:
        return (
            f"has the output {known['output']!r} of this flow: the epochs of two outputs would be"
            f" mixed, so give {name!r} a folder of its own"
        )
    return (
        f"has earlier epochs of {name!r} as {known.get('format', 'parquet')} files: no reader takes"
        f" them together with {format}, so go on in another folder, or in the old format"
    )


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
