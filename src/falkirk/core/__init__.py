"""The mathematics and the decisions of rollback recovery; the standard library is all it needs.

What is listed here is the whole public surface of the core. Times have an order, frontiers are sets
of times, projections carry them along the edges of a graph; checkpoints say what each processor can
restore; :func:`solve` finds where to roll back to, and :class:`Monitor` what may be forgotten.
"""

from falkirk.core.bridges import Custom, Recorded, Steps
from falkirk.core.checkpoint import AnyFrontier, Chain, Checkpoint, Restorable
from falkirk.core.constraints import (
    CONSTRAINTS,
    Choice,
    Constraint,
    Violation,
    delivered_messages,
    discarded_messages,
    notification_projection,
    notification_within_frontier,
    processed_notifications,
    undelivered_messages,
    violations,
)
from falkirk.core.domain import EPOCH, Domain, Sequence, Structured
from falkirk.core.errors import (
    ConfigurationError,
    ConnectorError,
    DefinitionError,
    EngineError,
    ExecutionError,
    FalkirkError,
    InvariantError,
    OutageError,
    PermanentError,
    ProblemError,
    RecoveryError,
    StoreError,
    StoreOutageError,
)
from falkirk.core.family import Family
from falkirk.core.frontier import (
    Frontier,
    ProductFrontier,
    SequenceFrontier,
    TotalFrontier,
    drop,
    keep,
)
from falkirk.core.graph import Edge, Graph
from falkirk.core.history import Event, History, Message, closure
from falkirk.core.laws import (
    Counterexample,
    adjoint_counterexample,
    counterexample,
    small_frontiers,
)
from falkirk.core.monitor import Advance, Completed, Monitor, Saved, Update
from falkirk.core.order import Order, SequenceOrder
from falkirk.core.problem import notation, read_problem, write_solution
from falkirk.core.projection import Enter, Feedback, Identity, Leave, Projection
from falkirk.core.rollback import Solution, solve
from falkirk.core.times import INF, Coordinate, EdgeId, ProcessorId, SequenceNumber, Time

__all__ = [
    "CONSTRAINTS",
    "EPOCH",
    "INF",
    "Advance",
    "AnyFrontier",
    "Chain",
    "Checkpoint",
    "Choice",
    "Completed",
    "ConfigurationError",
    "ConnectorError",
    "Constraint",
    "Coordinate",
    "Counterexample",
    "Custom",
    "DefinitionError",
    "Domain",
    "Edge",
    "EdgeId",
    "EngineError",
    "Enter",
    "Event",
    "ExecutionError",
    "FalkirkError",
    "Family",
    "Feedback",
    "Frontier",
    "Graph",
    "History",
    "Identity",
    "InvariantError",
    "Leave",
    "Message",
    "Monitor",
    "Order",
    "OutageError",
    "PermanentError",
    "ProblemError",
    "ProcessorId",
    "ProductFrontier",
    "Projection",
    "Recorded",
    "RecoveryError",
    "Restorable",
    "Saved",
    "Sequence",
    "SequenceFrontier",
    "SequenceNumber",
    "SequenceOrder",
    "Solution",
    "Steps",
    "StoreError",
    "StoreOutageError",
    "Structured",
    "Time",
    "TotalFrontier",
    "Update",
    "Violation",
    "adjoint_counterexample",
    "closure",
    "counterexample",
    "delivered_messages",
    "discarded_messages",
    "drop",
    "keep",
    "notation",
    "notification_projection",
    "notification_within_frontier",
    "processed_notifications",
    "read_problem",
    "small_frontiers",
    "solve",
    "undelivered_messages",
    "violations",
    "write_solution",
]
