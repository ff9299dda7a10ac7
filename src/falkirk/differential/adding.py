"""Adding up weighted batches: on the driver if they are all there, else by Spark."""

from collections.abc import Iterable, Sequence

from falkirk.dataflow.batch import Batch
from falkirk.dataflow.context import Context
from falkirk.differential.traces import runs
from falkirk.differential.weights import ONE, added, added_frame


def add_up(ctx: Context, batches: Iterable[Batch], measures: Sequence[str] = ONE) -> Batch:
    """One batch with equal rows in one and without what adds up to nothing.

    A batch that is like that already is given back as it is: so what one processor keeps and sends,
    and another one keeps in its turn, is one content, which is written once.
    """
    batches = list(batches)
    found = runs(batches)
    if found.large:
        return ctx.batch(added_frame(found.frame(ctx), measures)).materialise()
    if not found.small:
        return batches[0]
    summed = added(found.small, measures)
    if len(found.small) == 1 and summed.equals(found.small[0]):
        return next(batch for batch in batches if not batch.is_empty())
    return ctx.batch(summed)
