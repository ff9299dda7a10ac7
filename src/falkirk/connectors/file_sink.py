"""Files as a sink, in any format that Spark writes: a folder for each time, whole or not there."""

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from falkirk.connectors.file_writers import write_files
from falkirk.connectors.one_at_a_time import one_at_a_time
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
    one format: epoch 0 of another output, or of another store, is another epoch 0, and is refused.
    With ``replace`` what another store has left is deleted instead.
    """

    path: str | Path
    format: str = "parquet"
    options: Mapping[str, str] = field(default_factory=dict, repr=False, hash=False)
    replace: bool = False
    _owners: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

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

    @property
    def places(self) -> tuple[Path, ...]:
        """The folder: two outputs would take each other's epochs for their own."""
        return (Path(self.path).resolve(),)

    def attach(self, name: str, store: str) -> None:
        """Takes the folder for an output of a store, or refuses one that is another's."""
        folder = Path(self.path)
        owner = {"output": name, "store": store}
        if self.format != "parquet":
            owner["format"] = self.format
        if read_owner(folder) != owner:
            self._refuse(folder, owner)  # before anything is made in what is another's
            folder.mkdir(parents=True, exist_ok=True)
            with one_at_a_time(folder / OWNER):
                self._take(folder, owner)
        self._owners[name] = owner

    def _take(self, folder: Path, owner: Mapping[str, str]) -> None:
        """Becomes the owner of a folder, while nobody else can."""
        self._refuse(folder, owner)
        if read_owner(folder) != owner:
            for epoch in sorted(folder.glob("epoch=*")):
                shutil.rmtree(epoch)
            write_owner(folder, owner)

    def _refuse(self, folder: Path, owner: Mapping[str, str]) -> None:
        """Refuses a folder that is another's, unless ``replace`` gives up what is in it.

        What this very store has written is never given up.
        """
        known, epochs = read_owner(folder), any(folder.glob("epoch=*"))
        if known == owner:
            return
        if known is not None and known["store"] == owner["store"]:
            if known["output"] != owner["output"]:
                raise PermanentError(f"{folder} {anothers(known, owner, epochs)}")
            if epochs:
                raise PermanentError(f"{folder} {mixed(known, owner)}")
        if epochs and not self.replace:
            raise PermanentError(
                f"{folder} has epochs of another store, or of one that is gone: they would be"
                " taken for this one's. Move them away, write to another folder, or give"
                " replace=True to have them deleted"
            )

    def _check_owner(self, name: str) -> None:
        """Refuses a folder that another one has taken since it was ours and empty."""
        known, ours = read_owner(Path(self.path)), self._owners.get(name)
        if known is not None and ours is not None and known != ours:
            raise PermanentError(
                f"{self.path} was taken by the output {known['output']!r} of another run, which"
                " began before there was an epoch here: its epochs would be taken for this one's."
                " Stop one of the two, and have it write to another folder"
            )

    def undo(self, name: str, kept: Any) -> None:
        """Deletes the epochs that do not lie in ``kept``: a person has taken them back."""
        self._check_owner(name)
        for folder in sorted(Path(self.path).glob("epoch=*")):
            if (int(folder.name.partition("=")[2]),) not in kept:
                shutil.rmtree(folder)
        if Path(self.path).is_dir():
            sync_path(Path(self.path))

    def write(self, name: str, time: Time, batch: Any) -> None:
        """Writes into a hidden folder and renames that."""
        folder = Path(self.path) / f"epoch={time[0]}"
        if folder.exists():
            self._check_owner(name)
            return
        hidden = Path(self.path) / f".{name}-{time[0]}"
        shutil.rmtree(hidden, ignore_errors=True)
        write_files(hidden, batch, self.format, self.options)
        for part in hidden.iterdir():
            sync_path(part)
        sync_path(hidden)
        self._check_owner(name)
        hidden.rename(folder)
        sync_path(folder.parent)


def anothers(known: Mapping[str, str], owner: Mapping[str, str], has_epochs: bool) -> str:
    """Why the folder of an output is not for another one."""
    left = f"; if that one writes elsewhere by now, delete {OWNER} there"
    return (
        f"has the output {known['output']!r} of this flow: the epochs of two outputs would be"
        f" mixed, so give {owner['output']!r} a folder of its own{'' if has_epochs else left}"
    )


def mixed(known: Mapping[str, str], owner: Mapping[str, str]) -> str:
    """Why the folder of one format is not for another one."""
    old, new = (each.get("format", "parquet") for each in (known, owner))
    return (
        f"has earlier epochs of {owner['output']!r} as {old} files: no reader takes them together"
        f" with {new}, so go on in another folder, or in the old format"
    )


def read_owner(folder: Path) -> Any:
    """Which output of which store a folder belongs to, None if nobody has said so."""
    try:
        said = (folder / OWNER).read_text("utf-8")
    except FileNotFoundError:
        return None
    return json.loads(said) if said else None


def write_owner(folder: Path, owner: Any) -> None:
    """Says whom a folder belongs to; it is made if it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    fresh = folder / f"{OWNER}.new"
    fresh.write_text(json.dumps(owner), "utf-8")
    sync_path(fresh)
    fresh.rename(folder / OWNER)
    sync_path(folder)
