"""The very next step above a frontier."""

from itertools import product

from falkirk.core import EPOCH, INF, Order, Sequence, SequenceFrontier, Structured, small_frontiers
from falkirk.core.extension import extensions, successor


def test_every_step_is_a_smallest_one_and_stays_within() -> None:
    for domain in (EPOCH, Structured(2), Structured(2, Order.PRODUCT)):
        listed = [f for f in small_frontiers(domain, 1) if not f.is_top]
        grid = list(product(range(4), repeat=domain.depth))
        for frontier, within in product(listed, listed):
            if not frontier <= within or frontier == within:
                continue
            steps = extensions(domain, frontier, within)
            assert steps, f"{frontier} lies strictly inside {within}"
            for step in steps:
                assert frontier <= step <= within
                new = [t for t in grid if t in step and t not in frontier]
                assert len(new) == 1, f"{step} has {new} more than {frontier}"


def test_there_is_no_step_beyond() -> None:
    same = Structured(2).frontier([(1, 3)])
    assert extensions(Structured(2), same, same) == []
    numbers = SequenceFrontier({"e": 3})
    assert extensions(Sequence(), numbers, numbers) == []


def test_every_input_has_a_step_towards_everything() -> None:
    """⊤ names no edges; what a frontier lacks of it does, and so do the inputs."""
    top, some = Sequence().top, SequenceFrontier({"d": 4}, INF)
    assert extensions(Sequence(), some, top) == [SequenceFrontier({"d": 5}, INF)]
    assert extensions(Sequence(), Sequence().empty, top) == []
    assert extensions(Sequence(), Sequence().empty, top, ["e", "d"]) == [
        SequenceFrontier({"d": 1}),
        SequenceFrontier({"e": 1}),
    ]
    assert extensions(Sequence(), SequenceFrontier({"d": INF}), top, ["d", "e"]) == [
        SequenceFrontier({"d": INF, "e": 1})
    ]
    assert extensions(Sequence(), top, top, ["d"]) == []


def test_successors_in_deep_loops() -> None:
    assert successor((1, 2, 3), 3) == (1, 2, 4)
    assert successor((1, 2, INF), 3) == (1, 3, 0)
    assert successor((1, INF, INF), 3) == (2, 0, 0)
    assert successor((), 3) == (0, 0, 0)
