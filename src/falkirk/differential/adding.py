"""Adding up weighted batches: on the driver if they are all there, else by Spark."""

from collections.abc import Iterable, Sequence

from falkirk.dataflow.batch import Batch
from falkirk.dataflow.context import Context
from falkirk.differential.traces import runs
from falkirk.differential.weights import ONE, added, added_frame


def add_up(ctx: Context, batches: Iterable[Batch], measures: Sequence[str] = ONE) -> Batch:
    """One batch with equal rows in one and without what adds up to nothing."""
    batches = list(batches)
    found = runs(batches)
    if found.large:
        return ctx.batch(added_frame(found.frame(ctx), measures)).materialise()
    # Nothing but empty batches is one of them.
    return ctx.batch(added(found.small, measures)) if found.small else batches[0]
