"""How much room a trace takes while its runs are merged, and how often its rows are written."""

from math import inf
from random import Random

import pytest

from falkirk.runtime.compaction import PIECES, RUNS_MIN, Due, Run, due, runs_to_merge
from falkirk.store.reference import Piece

KEYS, CHANGES = 4_000, 20


class Trace:
    """Runs of keys; a key has a byte in each run that has it."""

    def __init__(self, divided_bytes_min: float) -> None:
        self.divided_bytes_min = divided_bytes_min
        self.runs: list[tuple[frozenset[int], Piece | None]] = []
        self.written = self.arrived = 0
        self.worst = 0.0

    @property
    def live(self) -> int:
        return len(frozenset().union(*(keys for keys, _ in self.runs)))

    @property
    def held(self) -> int:
        return sum(len(keys) for keys, _ in self.runs)

    def arrive(self, keys: frozenset[int]) -> None:
        self.runs.append((keys, None))
        self.arrived += len(keys)
        live = self.live
        while (how := due(self.described(), self.divided_bytes_min)) is not None:
            self.merge(how, live)

    def described(self) -> list[Run]:
        return [Run(len(keys), len(keys), piece) for keys, piece in self.runs]

    def merge(self, how: Due, live: int) -> None:
        taken = [self.runs[place] for place in how.places]
        keys = frozenset().union(*(keys for keys, _ in taken))
        put: list[tuple[frozenset[int], Piece | None]] = [(keys, how.piece)]
        if how.divided:
            put = [
                (frozenset(key for key in keys if key % PIECES == number), Piece(number, PIECES))
                for number in range(PIECES)
            ]
        new = sum(len(keys) for keys, _ in put)
        self.written += new
        if live > KEYS / 10:  # dividing for the first time takes twice the room, of little
            self.worst = max(self.worst, (self.held + new) / live)  # the old ones are still there
        left = [run for place, run in enumerate(self.runs) if place not in how.places]
        self.runs = [*left[: how.places[0]], *put, *left[how.places[0] :]]


def after(epochs: int, divided_bytes_min: float, seed: int = 1) -> Trace:
    random, trace = Random(seed), Trace(divided_bytes_min)
    for _ in range(epochs):
        trace.arrive(frozenset(random.sample(range(KEYS), CHANGES)))
    return trace


@pytest.mark.parametrize("seed", range(5))
def test_a_divided_trace_takes_well_under_twice_its_room(seed: int) -> None:
    trace = after(2_000, 200, seed)
    assert trace.live > 0.99 * KEYS
    assert trace.worst < 1.6
    assert {piece for _, piece in trace.runs if piece} == {Piece(n, PIECES) for n in range(PIECES)}


def test_whole_merges_take_more_than_twice_the_room() -> None:
    assert after(2_000, inf).worst > 2.2, "or dividing would be for nothing"


def test_a_row_is_written_a_few_times() -> None:
    trace = after(2_000, 200)
    assert trace.written < 12 * trace.arrived


def test_there_are_few_runs() -> None:
    trace = Trace(200)
    random = Random(3)
    for _ in range(1_000):
        trace.arrive(frozenset(random.sample(range(KEYS), CHANGES)))
        assert len(trace.runs) <= PIECES + RUNS_MIN + 6


def test_a_small_trace_is_not_divided() -> None:
    assert due([Run(10, 10)] * 9, 91) == Due(tuple(range(9)))
    assert due([Run(10, 10)] * 9, 90) == Due(tuple(range(9)), divided=True)


def test_the_files_of_a_few_rows_do_not_have_many_rows_merged() -> None:
    runs = [Run(8_000, 5_000), *[Run(16, 1_100)] * 9]
    assert due(runs, inf) == Due(tuple(range(1, 10)))


def test_pieces_of_another_number_are_divided_again() -> None:
    runs = [Run(100, 100, Piece(0, PIECES + 1)), Run(100, 100, Piece(1, PIECES + 1))]
    assert due(runs, 50) == Due((0, 1), divided=True)


def test_pieces_stay_apart() -> None:
    runs = [Run(100, 100, Piece(n, PIECES)) for n in (0, 1, 1, 0)]
    assert due(runs, inf) == Due((0, 3), Piece(0, PIECES))


def test_nothing_is_nothing_to_merge() -> None:
    assert due([], 0) is None
    assert runs_to_merge([]) == 0
