"""Settings of Spark that are sizes of memory: Java does not start with one that is none."""

import re
from collections.abc import Mapping

from falkirk.core.errors import ConfigurationError

HEAP = re.compile(r"[1-9][0-9]*[kmgt]", re.IGNORECASE)
"""What Java itself is given, and takes in this form only."""

SIZE = re.compile(r"[0-9]+(b|[kmgtp]b?)?", re.IGNORECASE)
"""What Spark reads."""

KINDS = {
    "SPARK_DRIVER_MEMORY": HEAP,
    "spark.driver.memory": HEAP,
    "spark.driver.maxResultSize": SIZE,
    "spark.driver.memoryOverhead": SIZE,
    "spark.executor.memory": SIZE,
    "spark.executor.memoryOverhead": SIZE,
    "spark.executor.pyspark.memory": SIZE,
}


def check_sizes(given: Mapping[str, str], origins: Mapping[str, str] | None = None) -> None:
    """Refuses a setting that must be a size and is none; ``origins`` say where each was written."""
    for name, value in given.items():
        if name in KINDS and not KINDS[name].fullmatch(str(value).strip()):
            origin = (origins or {}).get(name, "")
            raise ConfigurationError(
                f"{f'{origin}: ' if origin else ''}{name} is {value!r}, and must be a size of"
                " memory such as 4g or 512m"
            )
