"""What a run counts for its listeners."""

import pyarrow as pa

from falkirk.core.frontier import TotalFrontier
from falkirk.core.times import INF, EdgeId, ProcessorId, SequenceNumber
from falkirk.runtime.batch import Batch
from falkirk.runtime.content import Content
from falkirk.runtime.counting import KEPT_EPOCHS, Counts

P, Q = ProcessorId("p"), ProcessorId("q")


def rows(count: int) -> Batch:
    table = pa.table({"number": list(range(count))})
    return Batch(Content(table=table), None)  # type: ignore[arg-type]


def test_rows_that_are_processed_again_are_counted_twice_and_told() -> None:
    counts = Counts({})
    counts.processed(P, (0,), rows(10))
    counts.processed(P, (0,), rows(10), again=True)
    counts.processed(P, (1,), None)
    assert (counts.events[P], counts.rows[P], counts.replayed_rows) == (3, 20, 10)


def test_rounds_are_those_of_the_newest_epoch_that_is_complete() -> None:
    counts = Counts({})
    for when in [(0, 0), (0, 7), (1, 0), (0, 8), (1, 2)]:
        counts.processed(P, when, None)
    counts.processed(Q, (5,), None)
    counts.processed(Q, SequenceNumber(EdgeId("e"), 4), None)
    assert counts.rounds(Q, TotalFrontier((5,))) == 0
    rounds = [
        counts.rounds(P, TotalFrontier(upto)) for upto in ((0, 3), (0, INF), (1, 1), (1, INF))
    ]
    assert rounds == [9, 9, 9, 3]


def test_epochs_that_were_complete_everywhere_a_while_ago_are_forgotten() -> None:
    counts = Counts({P: P, Q: P})
    for epoch in range(KEPT_EPOCHS + 10):
        counts.read(P, epoch)
    counts.forget({P: TotalFrontier((KEPT_EPOCHS + 9,)), Q: TotalFrontier((KEPT_EPOCHS + 4,))})
    assert min(counts.read_at[P]) == 5
