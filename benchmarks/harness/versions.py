"""The versions and settings that figures on Spark depend on."""

import os
from importlib.metadata import version
from pathlib import Path

from benchmarks.harness.report import machine
from falkirk.runtime.java import find_java_home, probe_java
from falkirk.runtime.memory import driver_memory


def spark_machine() -> dict[str, str]:
    """What a report on Spark says of where it was made."""
    home = Path(os.environ.get("JAVA_HOME") or find_java_home())
    java = probe_java(home / "bin" / "java").version or ()
    heap = os.environ.get("SPARK_DRIVER_MEMORY", driver_memory())
    return {
        **machine(),
        "Spark": f"{version('pyspark')}, master local[*], driver heap {heap}",
        "Java": ".".join(map(str, java)),
        "pyarrow": version("pyarrow"),
    }
