"""Same seed, same run, always: also in another process, and whatever the order of its sets."""

import os
import subprocess
import sys

import pytest

from falkirk.testing.case import Case
from falkirk.testing.decisions import read_script, write_script

pytestmark = [pytest.mark.simulation, pytest.mark.slow]

SCRIPT = """
import hashlib
from falkirk.testing.case import Case
for seed in range(30):
    run = Case(seed).simulation().run()
    print(seed, hashlib.sha256("\\n".join(run.transcript()).encode()).hexdigest())
"""


def digests(hash_seed: str) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_a_run_does_not_depend_on_the_order_of_sets() -> None:
    first, second, third = map(digests, ("0", "1", "4711"))
    assert first == second == third


@pytest.mark.parametrize("seed", range(10))
def test_a_run_can_be_replayed_from_its_decisions(seed: int) -> None:
    run = Case(seed).simulation().run()
    schedule = read_script(write_script(run.decisions.made))
    again = Case(seed).written(schedule).simulation().run()
    assert again.transcript() == run.transcript()
