"""What one event adds to the state of its time, beside what others have kept there."""

from typing import Any, cast

from falkirk.dataflow.context import ASIDE
from falkirk.runtime.batch import Batch
from falkirk.runtime.content import Content
from falkirk.runtime.context import EventContext, StateView

NOBODY = cast(Any, None)
"""Nothing is evaluated here."""


def batch(label: str = "") -> Batch:
    return Batch(Content(plan="rows"), NOBODY, label)


def test_what_was_kept_before_is_not_what_this_event_added() -> None:
    view = StateView((3,), [], [batch()])
    view.put(batch())
    assert len(view.kept) == 2
    assert view.added == view.kept[1:]


def test_who_clears_keeps_and_has_added_what_was_set_aside_alone() -> None:
    view = StateView((3,), [], [batch(), batch(ASIDE)])
    view.put(batch())
    view.put(batch(), ASIDE)
    view.clear()
    assert [each.label for each in view.kept] == [ASIDE, ASIDE]
    assert view.added == view.kept[1:]


def test_what_an_event_made_is_what_it_sent_and_what_it_added() -> None:
    view, sent = StateView((3,), [((2,), [batch()])], [batch()]), batch()
    view.put(batch())
    context = EventContext(NOBODY, NOBODY, NOBODY, view, ())
    context.sends.append((cast(Any, "e"), (3,), sent))
    assert list(context.made()) == [sent, *view.added]
