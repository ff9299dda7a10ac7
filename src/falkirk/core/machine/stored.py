"""What the store holds of a processor: the durable part of its ledger, and its checkpoints."""

from dataclasses import dataclass

from falkirk.core.checkpoint import Checkpoint
from falkirk.core.machine.ledger import Ledger


@dataclass(frozen=True, slots=True)
class Stored:
    """The durable ledger of one processor; ``incarnation`` is the last one that wrote."""

    ledger: Ledger
    checkpoints: tuple[Checkpoint, ...] = ()
    incarnation: int = 0
