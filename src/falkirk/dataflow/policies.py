"""The policies that can be refused, as users write them: errors begin with the user's line."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

from falkirk.core import policy
from falkirk.core.errors import DefinitionError
from falkirk.core.policy import Policy
from falkirk.dataflow.location import refusal

P = ParamSpec("P")


def located(written: Callable[P, Policy]) -> Callable[P, Policy]:
    """The same function, whose refusals say where it was called."""

    @wraps(written)
    def called(*args: P.args, **kwargs: P.kwargs) -> Policy:
        try:
            return written(*args, **kwargs)
        except DefinitionError as error:
            raise refusal(str(error.args[0])) from None

    return called


lazy = located(policy.lazy)
snapshot = located(policy.snapshot)
