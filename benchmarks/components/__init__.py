"""Connected components of a graph that changes: following the changes, or computing them again."""

from typing import Any


def run(quick: bool) -> Any:
    """Runs it. A peer imports from here in an environment that has none of what a report needs."""
    from benchmarks.components import comparing

    return comparing.run(quick)
