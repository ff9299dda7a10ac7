"""Which batches share a file: the small ones of a checkpoint's state.

A file costs about the same whether it holds the changes of one time or of ten: to be encoded, made
durable and named. A checkpoint needs all of its state or none, so small batches go together.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from falkirk.core.machine.events import Collect, Persist
from falkirk.runtime.batch import Batch
from falkirk.runtime.content import Content

SHARED_BYTES_MAX = 1024 * 1024
"""How large a shared file is at most: who needs one part reads all of it."""


def files_to_write(effects: Sequence[Any]) -> Iterator[tuple[Any, list[Content]]]:
    """What must be durable before effects are carried out and is not: each list is one file.

    What is needed more than once goes into a file of its own, for others may write it, too.
    """
    wanted = [
        (effect, not_durable(state_of(effect)), not_durable(rest_of(effect))) for effect in effects
    ]
    uses = Counter(id(each.content) for _, *both in wanted for some in both for each in some)
    for effect, state, rest in wanted:
        own = [batch for batch in state if uses[id(batch.content)] == 1]
        alone = rest + [batch for batch in state if uses[id(batch.content)] > 1]
        yield from ((effect, [batch.content]) for batch in alone)
        yield from ((effect, contents) for contents in together(own))


def state_of(effect: Any) -> Iterable[Any]:
    """The state that a checkpoint saves."""
    if isinstance(effect, Persist):
        for record in effect.records:
            yield from record.state


def rest_of(effect: Any) -> Iterable[Any]:
    """All other batches of an effect: they are needed for as long as each of them is."""
    if isinstance(effect, Persist):
        for record in effect.records:
            yield from (message.batch for message in record.sent)
            yield from (past.batch for past in record.delivered)
    elif isinstance(effect, Collect):
        yield from (batch for _, batch in effect.state)


def not_durable(batches: Iterable[Any]) -> list[Batch]:
    """Those that have no file yet."""
    return [each for each in batches if isinstance(each, Batch) and each.reference is None]


def together(batches: Iterable[Batch]) -> list[list[Content]]:
    """The contents of batches, those in one list that are to share a file.

    They have the same label and columns: what has another label may be needed for longer.
    """
    found: list[list[Content]] = []
    begun: dict[tuple[str, bytes], tuple[list[Content], int]] = {}
    for batch in batches:
        content, size = batch.content, batch.size or 0
        table = content.table
        if table is None or content.piece is not None or size > SHARED_BYTES_MAX:
            found.append([content])
            continue
        kind = batch.label, table.schema.serialize().to_pybytes()
        some, before = begun.get(kind, ([], 0))
        if not some or before + size > SHARED_BYTES_MAX:
            some, before = [], 0
            found.append(some)
        some.append(content)
        begun[kind] = some, before + size
    return found
