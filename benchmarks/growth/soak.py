"""Does memory stay flat? Runs a flow for many epochs and measures on the way.

``python -m benchmarks.growth.soak --epochs 10000``. Not part of ``make bench``: it takes a while.
"""

import argparse
import gc
import os
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import falkirk as fk
from falkirk.connectors import Numbers
from falkirk.runtime.batch import Batch
from falkirk.runtime.classic import Gateway
from falkirk.runtime.content import Content
from falkirk.runtime.options import Options
from falkirk.runtime.run import run
from falkirk.runtime.session import start_session
from falkirk.store.reference import Reference

ROWS = 10
WATCHED = (Content, Batch, Reference)
PROBES: list[Any] = []


class Probed(Numbers):
    """Numbers that have memory measured at some epochs."""

    def read(self, session: Any, start: int, end: int) -> Any:
        """The numbers, after a look at memory if it is time for one."""
        PROBES[-1](start // ROWS)
        return Numbers.read(self, session, start, end)


class Counting:
    """A sink that counts what it is given."""

    exactly_once = True

    def __init__(self) -> None:
        """Nothing yet."""
        self.epochs = self.total = 0

    def write(self, name: str, time: Any, batch: Any) -> None:
        """Counts one time."""
        self.epochs += 1
        self.total = max([self.total, *batch.arrow()["count"].to_pylist()])


def resident_bytes() -> int:
    """What this process has in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def measured(gateway: Gateway, folder: Path) -> dict[str, float]:
    """Memory of Python and of the driver's JVM after collections, and what is alive in them."""
    gc.collect()
    alive = Counter(type(each) for each in gc.get_objects() if isinstance(each, WATCHED))
    sizes = []
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):  # it was collected just now
            sizes += [path.stat().st_size] if path.is_file() else []
    return {
        "python MB": round(resident_bytes() / 2**20),
        "JVM heap MB": round(gateway.heap_bytes() / 2**20),
        "cached": gateway.persisted(),
        **{kind.__name__: alive[kind] for kind in WATCHED},
        "files": len(sizes),
        "store MB": round(sum(sizes) / 2**20, 1),
    }


def main() -> None:
    """Runs the flow and prints a line at each mark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=10_000)
    parser.add_argument("--cached", action="store_true", help="keep all rows on executors")
    parser.add_argument("--at", type=int, nargs="*", default=[100, 1_000, 2_500, 5_000, 7_500])
    chosen = parser.parse_args()
    marks = {*chosen.at, chosen.epochs - 1}
    with tempfile.TemporaryDirectory() as folder:
        session = start_session("soak", "local[2]")
        gateway, began, sink = Gateway(session), time.monotonic(), Counting()

        def probe(epoch: int) -> None:
            if epoch in marks:
                marks.discard(epoch)
                seconds = round(time.monotonic() - began)
                print({"epoch": epoch, "seconds": seconds, **measured(gateway, Path(folder))})

        PROBES.append(probe)
        flow = fk.Dataflow("soak")
        numbers = flow.read(Probed(rows=chosen.epochs * ROWS, rows_per_epoch=ROWS), name="numbers")
        numbers.group_by("value % 5 AS k").count(name="counts").write(sink, name="out")
        options = Options(small_bytes_max=0) if chosen.cached else Options()
        run(flow, folder, session, options=options)
        print(
            {"written": sink.epochs, "largest count": sink.total, **measured(gateway, Path(folder))}
        )
        session.stop()


if __name__ == "__main__":
    main()
