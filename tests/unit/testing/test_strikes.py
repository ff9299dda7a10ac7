"""Strikes fall on what the driver hears of, by its name and not by the number of a step."""

import pytest

from falkirk.core.times import ProcessorId
from falkirk.testing.heard import Heard, What
from falkirk.testing.strikes import Aim, Strike, Strikes

COUNT, OUT = ProcessorId("count"), ProcessorId("out")
CALM = [
    each
    for n in range(5)
    for each in (Heard(What.PROCESSED, COUNT, (n,), "rows>count"), Heard(What.TAKEN, OUT, (n,)))
]


def struck(aim: Aim, run: list[Heard]) -> dict[Heard, list[Strike]]:
    """What happens in a run that hears of this, one after the other."""
    return {each: hit for each in run if (hit := aim.hit([each]))}


def test_a_seed_says_what_happens_and_another_one_says_otherwise() -> None:
    names = [COUNT, OUT]
    assert Strikes.seeded(3, names, 2, 2) == Strikes.seeded(3, names, 2, 2)
    assert len({Strikes.seeded(seed, names, 2, 2) for seed in range(20)}) == 20
    assert {Strikes.seeded(seed, names, 1, 0).pace for seed in range(20)} == {1, 2, 4}


def test_every_run_but_the_last_crashes_and_failures_come_before_that() -> None:
    for seed in range(50):
        strikes = Strikes.seeded(seed, [COUNT, OUT], crashes=2, failures=3)
        crashes = [each for each in strikes.strikes if not each.lost]
        assert [each.run for each in crashes] == [0, 1]
        for failure in (each for each in strikes.strikes if each.lost):
            assert failure.run == 2 or failure.place <= crashes[failure.run].place


def test_a_moment_is_found_by_its_name_in_whatever_order_it_comes() -> None:
    strike = Strike(0, 0.45)
    first, *rest = CALM
    in_order = struck(Aim(CALM, [strike]), CALM)
    assert in_order == {CALM[4]: [strike]}
    later_ones_last = [first, *(each for each in rest if each.processor == COUNT)]
    assert struck(Aim(CALM, [strike]), later_ones_last) == in_order


def test_what_a_run_hears_first_says_what_is_still_to_come() -> None:
    strike = Strike(1, 0.5)
    assert struck(Aim(CALM, [strike]), CALM[6:]) == {CALM[8]: [strike]}


def test_the_next_moment_is_struck_if_one_does_not_come() -> None:
    strike = Strike(0, 0.45)
    without = [each for each in CALM if each is not CALM[4]]
    assert struck(Aim(CALM, [strike]), without) == {CALM[5]: [strike]}


def test_what_the_run_in_peace_did_not_hear_of_is_passed_over() -> None:
    strike = Strike(0, 0.0)
    unknown = Heard(What.REPEATED, COUNT, (0,))
    assert struck(Aim(CALM, [strike]), [unknown, *CALM]) == {CALM[0]: [strike]}


def test_a_crash_is_alone_and_what_is_left_is_told() -> None:
    crash, failure = Strike(0, 0.2), Strike(0, 0.2, after=True, lost=frozenset([COUNT]))
    aim = Aim(CALM, [failure, crash])
    assert aim.hit(CALM[:3]) == [crash]
    assert [each.missed for each in aim.waiting] == ["run 1: it was over before 'count' could fail"]


@pytest.mark.parametrize("seed", range(10))
def test_with_a_real_sink_the_first_crash_comes_when_it_has_taken_a_time(seed: int) -> None:
    strikes = Strikes.seeded(seed, [COUNT, OUT], 2, 0, written=[OUT])
    aim = Aim(CALM, strikes.of(0))
    # What comes in another order than in the run in peace leads nowhere else.
    run = sorted(CALM, key=lambda each: each.what is What.TAKEN)
    [(heard, [crash])] = struck(aim, run).items()
    assert heard.what is What.TAKEN
    assert not crash.after, "the sink has it, and the driver does not know"


def test_what_happened_is_told_with_processor_and_time() -> None:
    crash, lost = Strike(1, 0.0), Strike(0, 0.0, after=True, lost=frozenset([OUT, COUNT]))
    assert crash.told(CALM[0]) == (
        "run 2: the driver crashed before it knew that 'count' has processed (0,) from 'rows>count'"
    )
    assert lost.told(CALM[1]) == (
        "run 1: 'count', 'out' failed as soon as the driver knew that the sink of 'out' has taken"
        " (0,)"
    )
