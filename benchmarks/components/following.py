"""Components that follow the changes, under each policy."""

import shutil
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import falkirk as fk
from benchmarks.components.graph import SCHEMA
from benchmarks.components.whole import WholeStore
from benchmarks.harness.unsaved import UnsavedStore
from falkirk.connectors import Files
from falkirk.dataflow.connecting import Limit
from falkirk.differential import collection, graphs
from falkirk.runtime.options import Options
from falkirk.runtime.run import run as run_flow

NONE, LAZY, EACH, EAGER = "nothing is saved", "lazy(every=10)", "lazy()", "eager()"
WHOLE = "the whole state, every 10 epochs"
POLICIES: dict[str, fk.Policy] = {
    NONE: replace(fk.at_least_once(), every=10),
    LAZY: fk.lazy(every=10),
    EACH: fk.lazy(),
    EAGER: fk.eager(),
    WHOLE: fk.lazy(every=10),
}


@dataclass(frozen=True)
class Run:
    """Seconds of the first epoch and of all after it, and the components at the end."""

    first: float
    rest: float
    components: dict[int, int]

    @property
    def whole(self) -> float:
        """Seconds of all epochs."""
        return self.first + self.rest


class Seen:
    """A sink that notes when the first epoch has come, and adds the changes up."""

    exactly_once = False

    def __init__(self) -> None:
        """Nothing has come."""
        self.sums: Counter[tuple[int, int]] = Counter()
        self.first: float | None = None

    def write(self, name: str, time_: Any, batch: Any) -> None:
        """Takes the changes of one epoch."""
        rows = batch.arrow()
        self.first = self.first or time.monotonic()
        node, component, change = (rows[c].to_pylist() for c in ("node", "component", "change"))
        for each in zip(node, component, change, strict=True):
            self.sums[each[:2]] += each[2]

    @property
    def components(self) -> dict[int, int]:
        """The component of each vertex at the end."""
        return dict(pair for pair, count in self.sums.items() if count)


def followed(session: Any, folder: Path, policy: str) -> Run:
    """Follows the changes in ``folder``, one epoch at a time."""
    flow = fk.Dataflow("components")
    source = Files(folder, schema=SCHEMA, order="name")
    edges = collection(flow.read(source, name="edges", limit=Limit(files=1)), "change")
    with flow.policy(POLICIES[policy]):
        made = graphs.connected_components(edges)
    sink = Seen()
    made.changes().write(sink, name="out")
    place = Path(tempfile.mkdtemp(dir=folder.parent))
    begun = time.monotonic()
    run_flow(flow, store_of(policy, place), session, options=Options(epochs_ahead=1))
    end = time.monotonic()
    shutil.rmtree(place)
    assert sink.first is not None, "the first epoch has all vertices"
    return Run(sink.first - begun, end - sink.first, sink.components)


def store_of(policy: str, place: Path) -> Any:
    """What a policy saves to."""
    if policy == NONE:
        return UnsavedStore()
    return WholeStore(str(place)) if policy == WHOLE else place
