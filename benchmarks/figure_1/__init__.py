"""The application of Figure 1 beside a stop-the-world baseline: queries, inputs, three failures."""

from typing import Any


def run(quick: bool) -> Any:
    """Runs it. The process that is measured imports from here and needs nothing of a report."""
    from benchmarks.figure_1 import comparing

    return comparing.run(quick)
