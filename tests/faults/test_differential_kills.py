"""A driver dies in the middle of a loop over collections, and the next one ends with the same rows.

``FALKIRK_SEED`` chooses the round, and so how many epochs were done by then.
"""

import os
from pathlib import Path
from random import Random

import pytest
from tests.faults.differential_flow import judge_components
from tests.faults.driver_strikes import Strike
from tests.faults.killing import Campaign

pytestmark = [pytest.mark.faults, pytest.mark.spark, pytest.mark.timeout(300)]

SEED = int(os.environ.get("FALKIRK_SEED", "0"))


class Following(Campaign):
    """Drivers that follow the changes of a graph."""

    def judge(self) -> list[str]:
        """Compares all epochs with components that were computed anew."""
        return judge_components(self.folder)


def test_a_kill_in_the_middle_of_a_loop_changes_nothing(tmp_path: Path) -> None:
    """The reduction in the loop has just saved some round of some epoch."""
    campaign = Following(tmp_path, fault="components")
    number = Random(SEED).randrange(8, 24)
    killed = campaign.strike(Strike("persisted min", number, single=True))
    story = "\n".join([*campaign.transcript, f"FALKIRK_SEED={SEED}"])
    assert killed, f"the driver ended before it was killed:\n{story}"
    assert not campaign.finish(), "\n".join(campaign.transcript)
