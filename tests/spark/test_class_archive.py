"""The driver and the executors of a local cluster really map the class archive into memory."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.spark.children import output_of_python

from falkirk.runtime.java import find_java_home
from falkirk.runtime.startup import archive_path

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(600)]

SECONDS_MAX = 300
CHILD = """
from pathlib import Path
from falkirk.runtime.session import start_session
session = start_session("archive", "local-cluster[1,1,1024]")
driver = session.sparkContext._jvm.java.lang.ProcessHandle.current().pid()
assert session.range(0, 10, 1, 2).toArrow().num_rows == 10
for maps in Path("/proc").glob("[0-9]*/maps"):
    try:
        command = maps.with_name("cmdline").read_text()
        mapped = {line.split()[-1] for line in maps.read_text().splitlines() if ".jsa" in line}
    except OSError:
        continue  # it is somebody else's, or gone by now
    if maps.parent.name == str(driver):
        print("driver", *mapped, flush=True)
    elif session.sparkContext.applicationId in command:
        print("executor", *mapped, flush=True)
session.stop()
"""


@pytest.fixture
def archive() -> Path:
    """The archive of this installation; a process that is at it is waited for."""
    found = archive_path({**os.environ, "JAVA_HOME": str(find_java_home())})
    deadline = time.monotonic() + SECONDS_MAX
    while not found.is_file() and time.monotonic() < deadline:
        subprocess.run([sys.executable, "-m", "falkirk.runtime.startup"], capture_output=True)
        time.sleep(1)
    return found


def test_all_jvms_of_a_local_cluster_start_from_the_archive(archive: Path, tmp_path: Path) -> None:
    output = output_of_python(
        *("-c", CHILD),
        folder=tmp_path,
        environment={**os.environ, "SPARK_LOCAL_DIRS": str(tmp_path), "TMPDIR": str(tmp_path)},
        seconds_max=SECONDS_MAX,
    )
    mapped = [line.split() for line in output]
    assert sorted(line[0] for line in mapped) == ["driver", "executor"]
    assert all(str(archive) in line[1:] for line in mapped), mapped
