"""What somebody who looks at a machine, a store or a flow says of one thing."""

from dataclasses import dataclass

OK, WARN, FAIL = "ok", "warn", "fail"


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One thing that was looked at; ``next`` says what to do unless it is fine."""

    what: str
    state: str
    words: str
    next: str = ""


def first_line(error: Exception) -> str:
    """An error without its details."""
    return str(error).partition("\n")[0]
