"""The errors of falkirk, by who is to blame and what to do next.

FalkirkError
├── DefinitionError   the flow, graph or projection as written cannot work
├── ProblemError      a rollback problem given as a file is malformed
├── RecoveryError     a rollback would need state that no longer exists
├── StoreError        the durable store cannot be used, or holds something else
│   └── StoreOutageError  its database or its disk does not do what it should: it may later
├── ConfigurationError  a setting, an option or the machine is not as it must be
├── ExecutionError    the user's code, or a Spark job, failed for good
├── EngineError       what computes the rows is gone: it may be back later
├── ConnectorError    a source or a sink, or the system behind it, failed
│   ├── PermanentError    trying again would not help: the flow stops at once
│   └── OutageError       the system behind does not answer: it is tried for longer
└── InvariantError    a bug in falkirk itself: the engine stops

Each error has a stable code; messages name the place and the next step.
"""


class FalkirkError(Exception):
    """The base of every error that falkirk raises on purpose.

    One that ``passes`` may be gone when the same is tried again later, without any change.
    """

    code = "FK000"
    passes = False

    def __str__(self) -> str:
        return f"[{self.code}] {super().__str__()}"


class DefinitionError(FalkirkError):
    """A graph, projection or flow that cannot work as defined."""

    code = "FK100"


class ProblemError(FalkirkError):
    """A malformed rollback problem; ``place`` is the path to the offending value."""

    code = "FK200"

    def __init__(self, place: str, message: str) -> None:
        """An error found at ``place``, such as ``processors.q.checkpoints[1].frontier``."""
        super().__init__(f"{place}: {message}")
        self.place = place


class RecoveryError(FalkirkError):
    """A rollback below what is still stored: says which state is gone."""

    code = "FK300"


class StoreError(FalkirkError):
    """The store cannot be used: damaged, in use, written by another flow, or out of reach."""

    code = "FK400"


class StoreOutageError(StoreError):
    """The database or the disk of the store does not answer, or is full."""

    code = "FK410"
    passes = True


class ConfigurationError(FalkirkError):
    """A setting, an option or the machine that a flow is to run on."""

    code = "FK500"


class ExecutionError(FalkirkError):
    """The user's code, or a Spark job, failed for good; nothing that was stored is lost."""

    code = "FK600"


class EngineError(FalkirkError):
    """What computes the rows is gone; nothing that was stored is lost."""

    code = "FK610"
    passes = True


class ConnectorError(FalkirkError):
    """A source or a sink, or the system behind it, failed."""

    code = "FK700"


class PermanentError(ConnectorError):
    """A source or a sink cannot do what it is asked, however often it is tried."""

    code = "FK710"


class OutageError(ConnectorError):
    """The system behind a source or a sink does not answer, and may do so later."""

    code = "FK720"
    passes = True


class InvariantError(FalkirkError):
    """A law of the system was broken: our bug, never the user's."""

    code = "FK900"
