"""The Yahoo streaming benchmark: falkirk, Structured Streaming, Flink, Pathway and Bytewax."""

from typing import Any


def run(quick: bool) -> Any:
    """Runs it. Peers import from here in environments that have none of what a report needs."""
    from benchmarks.ysb import comparing

    return comparing.run(quick)
