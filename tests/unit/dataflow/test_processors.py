"""What a processor has without writing it, and what it must write itself."""

from typing import Any

import pytest

from falkirk.dataflow import Processor
from falkirk.dataflow.operators.around import Around
from falkirk.dataflow.operators.columns import Columns


class Joining:
    """A context that only unites."""

    def union(self, batches: list[Any]) -> Any:
        return tuple(batches)


CONTEXT: Any = Joining()
BATCHES: Any = ["a", "b"]


def test_state_is_united_unless_the_processor_knows_better() -> None:
    assert Processor().consolidate(CONTEXT, BATCHES) == ("a", "b")
    assert Columns().consolidate(CONTEXT, BATCHES) == "a"


def test_a_notification_may_be_ignored_and_a_message_may_not() -> None:
    Processor().on_notify(CONTEXT, (0,))
    with pytest.raises(NotImplementedError, match="Processor has no on_message"):
        Processor().on_message(CONTEXT, 0, (0,), BATCHES)


def test_an_opaque_processor_saves_and_restores_itself() -> None:
    with pytest.raises(NotImplementedError, match="has no checkpoint"):
        Processor().checkpoint(None)
    with pytest.raises(NotImplementedError, match="has no restore"):
        Processor().restore(None, None)


def test_the_last_round_is_not_even_evaluated() -> None:
    """Whether anything is left does not matter when there is no further round."""
    Around(rounds=3).on_message(CONTEXT, 0, (0, 2), BATCHES)
