"""The sink that all contenders share: a file of JSON lines for each batch of results.

Only the standard library: peers import this from environments of their own.
"""

import json
import os
from collections.abc import Iterable
from pathlib import Path


def show(folder: Path, name: str, rows: Iterable[tuple[str, int, int]]) -> None:
    """Writes (campaign, window, count) rows, forced to the disk, then renamed: all or nothing.

    A name that is there is left as it is, so showing a batch again changes nothing.
    """
    place, hidden = folder / name, folder / f".{name}"
    if place.exists():
        return
    with hidden.open("w", encoding="ascii") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
        file.flush()
        os.fsync(file.fileno())
    hidden.rename(place)
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def campaigns_of(folder: Path) -> dict[str, str]:
    """The campaign of each advertisement, read from the folder that all contenders are given."""
    lines = (folder / "campaigns" / "all.json").read_text("ascii").splitlines()
    return {row["ad_id"]: row["campaign_id"] for row in map(json.loads, lines)}
