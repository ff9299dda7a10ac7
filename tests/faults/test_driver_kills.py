"""Drivers are killed at any moment, again and again, and the outside cannot tell (§4.3, §4.4).

``FALKIRK_KILLS`` says how many, ``FALKIRK_SEED`` with which seed they begin. A failure prints what
happened at every start, where everybody went back to, and the command that replays it.
"""

import os
from pathlib import Path

import pytest
from tests.faults.driver_judge import judge, seen
from tests.faults.driver_strikes import NEVER, Strike, seeded_strikes
from tests.faults.killing import Campaign, run_strikes

pytestmark = [pytest.mark.faults, pytest.mark.spark, pytest.mark.timeout(1200)]

KILLS = int(os.environ.get("FALKIRK_KILLS", "5"))
FIRST_SEED = int(os.environ.get("FALKIRK_SEED", "0"))
KILLS_A_SEED = 5
LONG = pytest.mark.skipif(
    not os.environ.get("FALKIRK_KILLS_ALL"), reason="what goes well is in make faults-long"
)
COMMAND = ".venv/bin/python -m pytest tests/faults/test_driver_kills.py -k seeded"


@pytest.mark.parametrize("seed", range(FIRST_SEED, FIRST_SEED + -(-KILLS // KILLS_A_SEED)))
def test_seeded_kills(tmp_path: Path, seed: int) -> None:
    count = min(KILLS_A_SEED, KILLS - (seed - FIRST_SEED) * KILLS_A_SEED)
    replay = f"FALKIRK_SEED={seed} FALKIRK_KILLS={count} {COMMAND}"
    campaigns = run_strikes(tmp_path, seeded_strikes(seed, count), replay)
    assert sum(campaign.kills for campaign in campaigns) == count
    for campaign in campaigns:
        print("\n".join(campaign.transcript))


def test_a_sink_that_does_not_recognise_repetitions_is_found_out(tmp_path: Path) -> None:
    """The check has teeth: a time that was written and not yet receipted is written twice.

    Which sink a kill hits is chance, and one of them may repeat itself, so a few are tried.
    """
    campaign = Campaign(tmp_path, fault="careless-sink")
    for count in range(6, 30, 4):
        campaign.strike(Strike("sink done", count))
        if any("is there 2 times" in wrong for wrong in judge(tmp_path)):
            return
    pytest.fail("a sink wrote times twice, and nobody noticed")


@pytest.mark.parametrize(
    "retracts",
    [pytest.param(True, id="retracts", marks=LONG), pytest.param(False, id="does-not-retract")],
)
def test_a_store_that_retracts_nothing_is_found_out(tmp_path: Path, retracts: bool) -> None:
    """Checkpoints of two timelines are combined unless the older one is retracted.

    Of two sinks with the same random rows the first one saves, and everything is killed. The rows
    are drawn again, the second one saves, and everything is killed again.
    """
    campaign = Campaign(tmp_path, fault="pair" if retracts else "pair no-retract")
    assert campaign.strike(Strike("persisted first", single=True))
    assert campaign.strike(Strike("persisted second", single=True))
    assert not campaign.strike(NEVER)
    shown = seen(tmp_path)
    assert sorted(shown["first"]) == sorted(shown["second"]) == [0]
    assert (shown["first"] == shown["second"]) is retracts, campaign.transcript
