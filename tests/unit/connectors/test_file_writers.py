"""What Spark says about rows that it cannot write, and what the user is told."""

from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException

from falkirk.connectors import FileSink
from falkirk.core.errors import PermanentError

NO_AVRO = "[AVRO_DATA_SOURCE_NOT_ENABLED] Failed to find data source: avro. Avro is built-in but"
NO_SUCH = "[DATA_SOURCE_NOT_FOUND] Failed to find the data source: avor."
TWO_COLUMNS = "[TEXT] Text data source supports only a single column, and you have 2 columns."


class Refused:
    """Rows that a Spark cannot write, and their frame, and its session, and its writer."""

    small, version = False, "4.9.0"

    def __init__(self, words: str) -> None:
        self.words = words

    def __getattr__(self, name: str) -> Any:
        return self

    def __call__(self, *given: Any, **options: Any) -> Any:
        return self

    def save(self, path: str) -> None:
        raise AnalysisException(self.words)


@pytest.mark.parametrize(
    ("format", "words", "told"),
    [
        ("avro", NO_AVRO, r"packages=org\.apache\.spark:spark-avro_2\.13:4\.9\.0"),
        ("avor", NO_SUCH, r"'avor': it is misspelt, or spark\.jars\.packages"),
        ("text", TWO_COLUMNS, r"text files cannot hold these rows: .*single column"),
    ],
)
def test_what_cannot_be_written_stops_the_flow(
    tmp_path: Path, format: str, words: str, told: str
) -> None:
    with pytest.raises(PermanentError, match=told):
        FileSink(tmp_path, format).write("out", (0,), Refused(words))
    assert not [*tmp_path.glob("epoch=*")]
