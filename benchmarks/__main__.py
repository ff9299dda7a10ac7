"""Runs benchmarks, prints their tables and writes them into ``benchmarks/results``."""

import argparse
from importlib import import_module
from pathlib import Path

from benchmarks.report import show, write

BENCHMARKS = (
    "rollback",
    "exactly-once",
    "ephemeral",
    "stateless",
    "recovery",
    "policies",
    "components",
)
"""The modules of this package that have a ``run(quick)``, in the order in which they run.

A name has a dash where its module has an underscore.
"""

RESULTS = Path(__file__).parent / "results"


def main() -> None:
    """Runs what the command line names, or everything."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*BENCHMARKS, []], metavar="name")
    parser.add_argument("--quick", action="store_true", help="small sizes; writes no results")
    chosen = parser.parse_args()
    for name in chosen.names or BENCHMARKS:
        report = import_module(f"benchmarks.{name.replace('-', '_')}").run(chosen.quick)
        show(report)
        if not chosen.quick:
            print(f"written: {write(report, RESULTS / f'{name}.md').relative_to(RESULTS.parent)}")


if __name__ == "__main__":
    main()
