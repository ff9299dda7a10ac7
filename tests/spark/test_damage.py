"""Damaged files: an error that says what is gone, and never a wrong row."""

import logging
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.spark.test_running import WORDS, counting

import falkirk as fk
from falkirk.core.errors import RecoveryError
from falkirk.runtime.run import run
from falkirk.testing.script import Remembered

pytestmark = pytest.mark.spark


def flip(file: Path) -> None:
    """Changes one bit in the middle: the size stays, so it is noticed when the file is read."""
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(bytes(content))


@pytest.mark.parametrize("harm", [flip, Path.unlink], ids=["a flipped bit", "a missing file"])
def test_state_that_is_gone_for_good_is_named(
    spark: SparkSession,
    tmp_path: Path,
    harm: Callable[[Path], None],
    caplog: pytest.LogCaptureFixture,
) -> None:
    run(counting(Remembered(), fk.lazy(), WORDS[:3]), tmp_path, spark)
    for file in (tmp_path / "data").iterdir():
        harm(file)
    again = Remembered()
    with caplog.at_level(logging.WARNING), pytest.raises(RecoveryError, match="'counts'"):
        run(counting(again, fk.lazy(), WORDS), tmp_path, spark)
    assert "damaged" in caplog.text
    assert not again.times
