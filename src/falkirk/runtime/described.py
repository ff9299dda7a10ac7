"""What stops a flow when a source or a sink does: who, what, and what next."""

from falkirk.core.errors import ConnectorError, OutageError, PermanentError

KINDS = (PermanentError, OutageError, ConnectorError)


def described(error: Exception, what: str, state: str = "") -> ConnectorError:
    """An error of the same flavour as the one that was raised: an outage may pass by itself.

    >>> described(OutageError("no route"), "the sink 'out' did not take 3", "It is staged").passes
    True
    """
    known = next((kind for kind in KINDS if isinstance(error, kind)), None)
    cause = error.args[0] if known else f"{type(error).__name__}: {error}"
    next_step = f"{state}; mend that and run again" if state else "Mend that and run again"
    return (known or ConnectorError)(f"{what}: {cause}. {next_step}")
