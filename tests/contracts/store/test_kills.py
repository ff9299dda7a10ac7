"""A process is killed at any moment: what it knew to be durable is there, whole, and no more."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.contracts.store.places import Place, stored, upto
from tests.contracts.store.victim import table
from tests.scale import scaled

ROOT = Path(__file__).parents[3]

pytestmark = pytest.mark.faults


def killed_after(place: Place, seconds: float) -> int:
    """Lets a process write until it is killed; the last epoch that it knew to be durable, or -1."""
    victim = subprocess.Popen(
        [sys.executable, "-m", "tests.contracts.store.victim", place.address],
        cwd=ROOT,
        bufsize=0,  # or what is read beyond the first line is not there for ``communicate``
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONWARNINGS": "default"},
    )
    assert victim.stdout is not None
    first = victim.stdout.readline()
    time.sleep(seconds)
    victim.send_signal(signal.SIGKILL)
    rest, errors = victim.communicate()
    lines = (first + rest).split(b"\n")
    assert victim.returncode == -signal.SIGKILL, errors.decode()
    # A line counts once its end is there.
    return int(lines[-2]) if len(lines) > 1 else -1


@pytest.mark.parametrize("seed", range(scaled(2)))
def test_what_was_durable_is_there(lasting: Place, seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(3):
        known = killed_after(lasting, chance.uniform(0.0, 0.3))
        store = lasting.started()
        found = stored(store, "a", verify=True)
        assert store.damages == ()
        reached = len(found.ledger.base.state) + len(found.ledger.records) - 1
        assert reached in (known, known + 1), "all that was acknowledged, and at most one more"
        assert found.checkpoints[-1].frontier == upto(reached)
        entries = list(found.ledger.base.state)
        for record in found.ledger.records.values():
            entries += [(record.time, record.state[0]), (record.time, record.sent[0].batch)]
        for written, batch in entries:
            assert store.files.read(batch.reference).equals(table(written[0]))
        named = {batch.reference.name for _, batch in entries}
        assert set(store.files.names()) == named
        assert found.ledger.base.frontier <= found.checkpoints[0].frontier
        del found, entries, batch
        lasting.close()
