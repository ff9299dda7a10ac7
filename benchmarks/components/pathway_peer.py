"""The peer Pathway: its ``iterate`` follows the same changes, one epoch after the other.

Run as ``python -m benchmarks.components.pathway_peer FOLDER RESULT`` in Pathway's own environment.
"""

import json
import sys
import time
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pathway as pw

MARK = 1 << 60
"""Each epoch has an edge between two vertices of its own from here on: so there is a change to see
when it is done, whatever the others do."""


class Edge(pw.Schema):
    """An edge with a number."""

    number: int = pw.column_definition(primary_key=True)
    src: int
    dst: int


class Changes(pw.io.python.ConnectorSubject):
    """Sends the changes of an epoch when those of the one before have been seen at the end."""

    def __init__(self, folder: Path) -> None:
        """Reads the files of ``folder``."""
        super().__init__()
        self.files, self.seen = sorted(folder.glob("*.npy")), Event()
        self.seconds: list[float] = []

    def run(self) -> None:
        """Sends all epochs."""
        for epoch, file in enumerate(self.files):
            rows = np.load(file).tolist()
            self.seen.clear()
            begun = time.monotonic()
            for number, src, dst, change in rows:
                if change > 0:
                    self.next(number=number, src=src, dst=dst)
                else:
                    self.delete(number=number, src=src, dst=dst)
            self.next(number=MARK + epoch, src=MARK + 2 * epoch, dst=MARK + 2 * epoch + 1)
            self.commit()
            self.seen.wait()
            self.seconds.append(time.monotonic() - begun)


class Shown(pw.io.python.ConnectorObserver):
    """Keeps the components, and tells when an epoch has come."""

    def __init__(self, changes: Changes) -> None:
        """Tells ``changes``."""
        self.changes, self.components, self.marked = changes, dict[int, int](), False

    def on_change(self, key: Any, row: dict[str, Any], time: int, is_addition: bool) -> None:
        """A component holds from now on, or no longer."""
        node, label = row["node"], row["label"]
        if node >= MARK:
            self.marked = True
        elif is_addition:
            self.components[node] = label
        elif self.components.get(node) == label:
            del self.components[node]

    def on_time_end(self, time: int) -> None:
        """All changes of a time have come."""
        if self.marked:
            self.marked = False
            self.changes.seen.set()


def told(labels: Any, edges: Any) -> dict[str, Any]:
    """One round: every vertex has the least label of its own and its neighbours."""
    heard = labels.join(edges, labels.node == edges.src).select(node=edges.dst, label=labels.label)
    both = pw.Table.concat_reindex(labels.select(labels.node, labels.label), heard)
    return {"labels": both.groupby(both.node).reduce(both.node, label=pw.reducers.min(both.label))}


def main(folder: Path, result: Path) -> None:
    """Follows the changes in ``folder``, and writes the seconds and the components."""
    changes = Changes(folder)
    read = pw.io.python.read(changes, schema=Edge, autocommit_duration_ms=None)
    forth, back = read.select(read.src, read.dst), read.select(src=read.dst, dst=read.src)
    edges = pw.Table.concat_reindex(forth, back)
    nodes = edges.groupby(edges.src).reduce(node=edges.src, label=edges.src)
    found = pw.iterate(told, labels=pw.iterate_universe(nodes), edges=edges).labels
    shown = Shown(changes)
    pw.io.python.write(found, shown)
    pw.run(monitoring_level=pw.MonitoringLevel.NONE)
    components = [[int(node), int(label)] for node, label in shown.components.items()]
    result.write_text(json.dumps({"seconds": changes.seconds, "components": components}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
