"""Policies mixed at random on random graphs, under random failures: the outside cannot tell."""

import pytest
from tests.scale import QUICK, scaled

from falkirk.testing.blocks import run_block
from falkirk.testing.case import Case
from falkirk.testing.faults import Trouble
from falkirk.testing.shrink import shrink

pytestmark = pytest.mark.simulation

BLOCKS = 20
SEEDS = scaled(260)
"""Of each block: 5,200 seeds in all for ``make test``."""


@pytest.mark.parametrize("block", range(BLOCKS))
def test_the_outside_cannot_tell_that_anything_failed(block: int) -> None:
    found = run_block(block * 10_000, SEEDS)
    assert found.runs == SEEDS
    if found.failures:
        seed, error = found.failures[0]
        pytest.fail(f"seed {seed}: {error}\n{shrink(Case(seed), runs_max=500)}", pytrace=False)


@pytest.mark.skipif(QUICK, reason="needs some hundred seeds; make test runs it")
def test_every_kind_of_trouble_happens() -> None:
    """A simulator that never gets into trouble would pass every other test here."""
    seen = run_block(500_000, 250).seen
    situations = {kind.value for kind in Trouble} | {
        "back to a round",
        "back to a round of an inner loop",
        "crashed after a release",
        "crashed before a retraction",
        "everything at once",
        "failed while another replays",
        "failed while replaying",
        "late work",
        "late write",
        "compaction",
        "marker under way",
        "orphaned files",
        "output repeated",
        "own state restored",
        "put back while replaying",
        "put back while saving",
        "receiver put back while replaying",
        "replayed event",
        "snapshot durable in part",
        "went back below low-watermarks",
        "work put back",
    }
    assert situations <= set(seen), f"never happened: {situations - set(seen)}"
