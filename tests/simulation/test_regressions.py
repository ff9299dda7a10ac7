"""Seeds that once failed.

A seed stands for one flow and one schedule only as long as nothing about the making of flows and
schedules changes. So these may no longer lead where they once did; that every situation named here
is still reached is checked in ``test_seeds``. They cost nothing, and stay.
"""

import pytest

from falkirk.testing.case import Case

pytestmark = pytest.mark.simulation

SEEDS = {
    103: "a checkpoint counts as a notification: it says that its times are complete",
    107: "a history fails again while it is being replayed",
    140: "an output is released after a crash, once more and not otherwise",
    271: "the step that rolls back takes new checkpoints, which did not constrain it",
    515: "a history fails again while it is being replayed, and owes messages to its receivers",
    2673: "a receiver of a history fails while the history is being replayed",
    3907: "everything fails while a history is being replayed",
    20_157: "a fact of the monitor's that stood was forgotten, and a low-watermark stayed too low",
    100_002: "after a crash, completed times reach up to what the store has seen",
    5_010_826: "a repetition that is not delivered counts as sent: its receiver may yet lose it",
}


@pytest.mark.parametrize("seed", SEEDS, ids=str)
def test_a_seed_that_once_failed(seed: int) -> None:
    Case(seed).simulation().run()
