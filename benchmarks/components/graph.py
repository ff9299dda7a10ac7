"""Random graphs and epochs of changes to them, as files."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

SCHEMA = "src BIGINT, dst BIGINT, change BIGINT"


@dataclass(frozen=True)
class Graph:
    """A random graph with twice as many edges as vertices, and epochs of changes to it.

    In every epoch as many edges go as come, ``changes`` in all.
    """

    edges: int
    epochs: int
    changes: int = 100
    seed: int = 20260

    @property
    def vertices(self) -> int:
        """How many vertices there are."""
        return self.edges // 2

    @property
    def moments(self) -> tuple[int, int, int]:
        """The epochs that are computed from scratch, in turn: the last, the first, the middle."""
        return self.epochs, 1, (self.epochs + 1) // 2

    def make(self, folder: Path) -> dict[int, pa.Table]:
        """Writes a file for each epoch, the whole graph first; returns all edges at the moments.

        Beside ``folder`` there is another one for peers, in which every edge has a number.
        """
        for each in (folder, numbered(folder)):
            each.mkdir(parents=True)
        random = np.random.default_rng((self.seed, self.edges, self.changes))
        ends = random.integers(0, self.vertices, (self.edges, 2))
        numbers = np.arange(self.edges)
        write(folder, 0, numbers, ends, np.ones(len(ends)))
        half, found = self.changes // 2, dict[int, pa.Table]()
        for epoch in range(1, self.epochs + 1):
            places = random.choice(self.edges, half, replace=False)
            come = random.integers(0, self.vertices, (half, 2))
            new = self.edges + (epoch - 1) * half + np.arange(half)
            write(
                folder,
                epoch,
                np.concatenate([new, numbers[places]]),
                np.concatenate([come, ends[places]]),
                np.concatenate([np.ones(half), -np.ones(half)]),
            )
            ends[places], numbers[places] = come, new
            if epoch in self.moments:
                found[epoch] = table_of(ends.copy())
        return found


def numbered(folder: Path) -> Path:
    """Where the same changes are, with the number of each edge."""
    return folder.with_name(f"{folder.name}-numbered")


def write(folder: Path, epoch: int, numbers: Any, ends: Any, signs: Any) -> None:
    """Writes the changes of one epoch."""
    signs = signs.astype("int64")
    table = table_of(ends).append_column("change", pa.array(signs))
    pq.write_table(table, folder / f"{epoch:06}.parquet")
    np.save(numbered(folder) / f"{epoch:06}.npy", np.column_stack([numbers, ends, signs]))


def table_of(ends: Any) -> pa.Table:
    """Edges as a table."""
    return pa.table({"src": ends[:, 0], "dst": ends[:, 1]})
