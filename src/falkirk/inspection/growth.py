"""State that may grow as long as a flow runs: with keys, with a collection, with all that comes."""

import sys
from dataclasses import dataclass

from falkirk.dataflow.node import Node
from falkirk.dataflow.operators.aggregate import RunningAggregate
from falkirk.dataflow.processor import Processor
from falkirk.inspection.authors import is_falkirks


@dataclass(frozen=True, slots=True)
class Growth:
    """What is kept, and what can be done about it."""

    words: str
    next: str


def growth(node: Node) -> Growth | None:
    """What a processor keeps for ever, if it does."""
    operator = node.operator
    if isinstance(operator, RunningAggregate) and operator.names:
        return Growth(
            f"it keeps one row for each value of {', '.join(operator.names)}, for ever",
            "fine if there are not many; else group by time too",
        )
    if keeps_collection(operator):
        return Growth(
            "it keeps what its collection holds: rows go when they are retracted",
            "fine if the collection is bounded",
        )
    if isinstance(operator, Processor) and keeps_all(operator):
        return Growth(
            f"what it puts into its state and does not clear stays for ever: {node.kind} has no"
            " consolidate, so older batches are united and none of their rows goes",
            "fine if there are few; else write consolidate. If it keeps nothing once a time is"
            " complete, say stateless = True",
        )
    return None


def keeps_collection(operator: object) -> bool:
    """Whether an operator keeps all rows of a collection that changes."""
    if "falkirk.differential" not in sys.modules:  # else nobody can have made one
        return False
    from falkirk.differential.join import Join
    from falkirk.differential.reduce import Reduce
    from falkirk.differential.versions import Versions

    return isinstance(operator, Join | Reduce | Versions)


def keeps_all(operator: Processor) -> bool:
    """Whether a user's processor has state and leaves it to falkirk, which only unites it.

    What an opaque one keeps is in itself, and nobody else knows how much that is.
    """
    united = type(operator).consolidate is Processor.consolidate
    return united and not (operator.stateless or operator.opaque or is_falkirks(operator))
