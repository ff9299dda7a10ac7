"""Monitors in processes of their own: nothing final happens before they agree."""

import subprocess
import sys
import time
from pathlib import Path
from threading import Thread

import pytest
from pyspark.sql import SparkSession
from tests.spark.test_running import WORDS, counting, running_counts

import falkirk as fk
from falkirk.core.errors import StoreError
from falkirk.inspection.look import look_at
from falkirk.runtime.options import Options
from falkirk.runtime.run import run
from falkirk.testing.script import Remembered

pytestmark = pytest.mark.spark


def start_monitor(store: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "falkirk", "monitor", "--store", str(store)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def all_is_saved(store: Path) -> bool:
    """Whether a monitor would agree to everything, if there were one."""
    if not (store / "metadata.sqlite").exists():
        return False
    try:
        found = look_at(str(store)).solution.frontiers
    except StoreError:  # no flow has put itself down there yet
        return False
    return bool(found) and set(found.values()) == {(len(WORDS) - 1,)}


def test_a_flow_releases_nothing_until_a_monitor_agrees(
    spark: SparkSession, tmp_path: Path
) -> None:
    sink = Remembered()
    flow = counting(sink, fk.lazy())
    running = Thread(
        target=run, args=(flow, tmp_path, spark), kwargs={"options": Options(monitor="external")}
    )
    running.start()
    try:
        while running.is_alive() and not all_is_saved(tmp_path):
            time.sleep(0.1)
        assert running.is_alive()
        assert not sink.times, "no monitor was there to agree"

        killed = start_monitor(tmp_path)
        while not sink.times:
            time.sleep(0.1)
        killed.kill()
        killed.communicate()
    finally:
        others = [start_monitor(tmp_path), start_monitor(tmp_path)]
        running.join(120)
        said = [each.stdout.readline() for each in others if each.stdout]
        for each in others:
            each.terminate()
    ends = [(*each.communicate(), each.returncode) for each in others]
    assert [(error, status) for _, error, status in ends] == [("", 0)] * 2
    assert all("counts" in line for line in said)
    assert sink.times == running_counts(WORDS)


def test_looking_once(spark: SparkSession, tmp_path: Path) -> None:
    run(counting(Remembered(), fk.lazy()), tmp_path, spark)
    done = subprocess.run(
        [sys.executable, "-m", "falkirk", "monitor", "--store", str(tmp_path), "--once"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == '{"counts": [[4]], "out": [[4]], "words": [[4]]}\n'
