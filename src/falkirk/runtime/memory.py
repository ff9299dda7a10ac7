"""How much memory Spark's driver gets if nobody says: more than its own default on most machines.

On a local master the driver does all the work, and one gigabyte is little for state.
"""

import os
from pathlib import Path

LEAST, MOST = 1 << 10, 4 << 10
"""In MiB: Spark's own default, and what is plenty unless somebody says so."""

SHARE = 8
"""The driver gets one part of so many: there is Python beside it, and perhaps other flows."""

LIMIT = Path("/sys/fs/cgroup/memory.max")
"""What a container may use, if that is limited."""


def driver_memory(limit: Path = LIMIT) -> str:
    """A value for ``SPARK_DRIVER_MEMORY``."""
    return f"{heap_mib(machine_bytes(limit))}m"


def heap_mib(total_bytes: int) -> int:
    """How many MiB of ``total_bytes`` are the driver's.

    >>> [heap_mib(gib << 30) for gib in (2, 16, 256)]
    [1024, 2048, 4096]
    """
    return min(max((total_bytes >> 20) // SHARE, LEAST), MOST)


def machine_bytes(limit: Path) -> int:
    """How much memory there is, here or in this container; nothing if nobody can tell."""
    try:
        found = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return 0
    try:
        allowed = limit.read_text().strip()
    except OSError:
        return found
    return min(found, int(allowed)) if allowed.isdigit() else found
