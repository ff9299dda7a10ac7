"""Taking files of another store: by hard links, or by copies where that cannot be."""

import os
import shutil
from pathlib import Path

from falkirk.core.errors import StoreError, StoreOutageError
from falkirk.disk import sync_path
from falkirk.store.files import Files
from falkirk.store.places import UnreachableError
from falkirk.store.reference import Reference


class CollectedError(StoreError):
    """What was to be taken is gone by now: the live flow has gone on."""


def take(source: Files, target: Files, reference: Reference) -> None:
    """Takes a batch of another store, unless it is there: by links on a disk, else by a copy."""
    name = reference.name
    here, there = source.place.folder, target.place.folder
    if here is not None and there is not None:
        if not (there / name).exists():
            link(here / name, there / name)
    elif target.problem(reference) is not None:
        copy(source, target, reference)


def copy(source: Files, target: Files, reference: Reference) -> None:
    """Writes a batch once more; it counts only when the row that names it is there."""
    name = reference.name
    try:
        if reference.kind == "folder":
            for part in source.place.parts(name):
                path = f"{name}/{part.name}"
                if (folder := target.place.folder) is not None:
                    (folder / path).parent.mkdir(parents=True, exist_ok=True)
                target.place.fill(path, source.place.get(path))
            target.place.settle(name, target.place.parts(name))
        else:
            target.place.fill(name, source.place.get(name))
    except FileNotFoundError as error:
        raise CollectedError(f"{source.told(name)} is gone by now") from error
    except UnreachableError as error:
        raise StoreOutageError(
            f"cannot copy {source.told(name)} to {target.told(name)}: {error}; try again"
        ) from error


def link(source: Path, target: Path) -> None:
    """Takes a file or a folder: they are never changed, so two names for one are as good."""
    try:
        if source.is_dir():
            for folder, _, names in os.walk(source):
                inside = target / Path(folder).relative_to(source)
                inside.mkdir(parents=True)
                for name in names:
                    link_file(Path(folder) / name, inside / name)
                sync_path(inside)
        else:
            link_file(source, target)
    except FileNotFoundError as error:
        raise CollectedError(f"{source} is gone by now") from error


def link_file(source: Path, target: Path) -> None:
    """A second name for a file, or a copy where the disk cannot do that."""
    try:
        os.link(source, target)
    except FileNotFoundError:
        raise
    except OSError:
        shutil.copyfile(source, target)
        sync_path(target)
