"""Settings that every suite shares.

Hypothesis runs with the profile that FALKIRK_HYPOTHESIS names: `check` (few examples, for
`make check`), `ci` (the default) or `long`. A failing example is printed with the line that
replays it.
"""

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import settings

# No JVM here lives long enough to gain from Java's second compiler, nor has it much to collect;
# commands inherit this, too.
os.environ.setdefault(
    "SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData"
)

MEMORY, ROOM_BYTES = Path("/dev/shm"), 4 * 1024**3
"""Where nobody waits for a disk. A file there outlives its process like any other, and no test
switches the machine off. With less room than this, the tests' folders are where pytest has them."""

if (
    "PYTEST_DEBUG_TEMPROOT" not in os.environ
    and os.access(MEMORY, os.W_OK)
    and shutil.disk_usage(MEMORY).free >= ROOM_BYTES
):
    os.environ["PYTEST_DEBUG_TEMPROOT"] = str(MEMORY)

pytest_plugins = ["tests.servers.fixtures", "tests.web.fixtures"]

settings.register_profile("check", max_examples=25, deadline=None, print_blob=True)
settings.register_profile("ci", max_examples=200, deadline=None, print_blob=True)
settings.register_profile("long", max_examples=5_000, deadline=None, print_blob=True)
settings.load_profile(os.environ.get("FALKIRK_HYPOTHESIS", "ci"))

LONG_FIRST = ("faults", "spark", "slow", "simulation")
"""Files with tests of these markers, in this order, take the most time."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Where processes share the files, the long ones come first, so that all end together."""
    if not hasattr(config, "workerinput"):
        return
    places: dict[object, int] = {}
    for item in items:
        found = (n for n, mark in enumerate(LONG_FIRST) if item.get_closest_marker(mark))
        place = next(found, len(LONG_FIRST))
        places[item.path] = min(place, places.get(item.path, place))
    items.sort(key=lambda item: places[item.path])
