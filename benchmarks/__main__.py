"""Runs benchmarks, prints their tables and writes them into ``benchmarks/results``."""

import argparse
import json
import os
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from benchmarks.harness.report import Report, show, write
from falkirk.runtime.memory import driver_memory


class Benchmark(NamedTuple):
    """What the ``run(quick)`` of a ``module`` of this package measures, and in how many minutes."""

    name: str
    module: str
    measures: str
    minutes: float
    quick_minutes: float


BENCHMARKS = (
    Benchmark(
        "rollback", "rollback.solving", "choosing frontiers, over the size of the graph", 10, 1
    ),
    Benchmark(
        "exactly-once",
        "streaming.exactly_once",
        "throughput and latency beside Structured Streaming",
        32,
        3,
    ),
    Benchmark("ysb", "ysb.comparing", "the Yahoo streaming benchmark beside four peers", 55, 10),
    Benchmark(
        "ephemeral", "plain_spark.ephemeral", "a stateless pipeline beside plain PySpark", 4, 1
    ),
    Benchmark("stateless", "plain_spark.stateless", "Lindi's operators beside plain PySpark", 4, 1),
    Benchmark(
        "recovery",
        "streaming.recovery",
        "the first result after a kill, beside Structured Streaming",
        6,
        1,
    ),
    Benchmark(
        "policies",
        "policies.costs",
        "what policies cost over saving nothing, and what is kept",
        18,
        0.5,
    ),
    Benchmark(
        "epochs",
        "policies.epochs",
        "jobs, writes, transactions and milliseconds an epoch, by policy",
        3,
        0.5,
    ),
    Benchmark("matrix", "policies.matrix", "policies by interval, rate, skew and failure", 17, 1.5),
    Benchmark(
        "growth", "growth.parts", "how costs grow with epochs, keys, rows and processors", 22, 2
    ),
    Benchmark(
        "components", "components.comparing", "connected components that follow changes", 25, 1
    ),
    Benchmark(
        "figure-1",
        "figure_1.comparing",
        "the paper's application beside a stop-the-world baseline",
        13,
        2,
    ),
)
"""In the order in which they run."""

MODULES = {each.name: each.module for each in BENCHMARKS}

RESULTS = Path(__file__).parent / "results"
ADVICE = Path(__file__).parents[1] / "src" / "falkirk" / "inspection" / "measured.json"


def main() -> None:
    """Runs what the command line names, or everything."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    names = [*MODULES]
    parser.add_argument("names", nargs="*", metavar="name")
    parser.add_argument("--quick", action="store_true", help="small sizes; writes no results")
    parser.add_argument("--list", action="store_true", help="tell what each measures, and end")
    parser.add_argument(
        "--write-advice", action="store_true", help="have falkirk check advise by what is found"
    )
    chosen = parser.parse_args()
    if unknown := sorted(set(chosen.names) - set(names)):
        parser.error(f"there is no {', '.join(unknown)}: there are {', '.join(names)}")
    if chosen.list:
        tell()
        return
    os.environ.setdefault("SPARK_DRIVER_MEMORY", driver_memory())  # for falkirk and its peers
    for name in chosen.names or names:
        report = import_module(f"benchmarks.{MODULES[name]}").run(chosen.quick)
        show(report)
        if not chosen.quick:
            print(f"written: {write(report, RESULTS / f'{name}.md').relative_to(RESULTS.parent)}")
        if chosen.write_advice and report.facts:
            advise(report)


def tell() -> None:
    """Prints what there is."""
    table = Table("name", "measures", "minutes", "--quick", box=None)
    for each in BENCHMARKS:
        row = each.name, each.measures, f"{each.minutes:g}", f"{each.quick_minutes:g}"
        table.add_row(*row)
    Console().print(table)


def advise(report: Report) -> None:
    """Writes the facts of a report where ``falkirk check`` finds them."""
    ADVICE.write_text(json.dumps(report.facts, indent=2, ensure_ascii=False) + "\n", "utf-8")
    print(f"written: {ADVICE.name}, for falkirk check")


if __name__ == "__main__":
    main()
