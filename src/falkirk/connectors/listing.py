"""Handing Spark many files whose names are known already.

Of more than 32 paths Spark starts a job with a task for each, only to look whether they are files.
For a folder on a distant store that may pay. Here the driver has just listed them, and to look at a
file takes it less than to start a task.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

THRESHOLD = "spark.sql.sources.parallelPartitionDiscovery.threshold"

FEW = 32
"""So many are looked at by the driver anyway."""

_one_at_a_time = Lock()
"""The setting is the session's, and who puts it back must find it as it was."""


@contextmanager
def listed_by_driver(session: Any, paths: int) -> Iterator[None]:
    """While files are loaded, so many ``paths`` cost no job."""
    if paths <= FEW:
        yield
        return
    with _one_at_a_time:
        before = session.conf.get(THRESHOLD)
        session.conf.set(THRESHOLD, str(max(paths, int(before))))
        try:
            yield
        finally:
            session.conf.set(THRESHOLD, before)
