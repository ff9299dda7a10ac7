"""Taking files of another store: by hard links, or by copies where that cannot be."""

import os
import shutil
from pathlib import Path

from falkirk.core.errors import StoreError
from falkirk.store.files import sync_path


class CollectedError(StoreError):
    """What was to be taken is gone by now: the live flow has gone on."""


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
