"""Errors: one hierarchy, a stable code each."""

import inspect

from falkirk.core import FalkirkError, ProblemError, RecoveryError, errors


def test_every_error_has_a_code_of_its_own_and_is_drawn_at_the_head_of_the_file() -> None:
    found = [
        value
        for value in vars(errors).values()
        if inspect.isclass(value) and issubclass(value, FalkirkError)
    ]
    assert len({error.code for error in found}) == len(found) >= 5
    assert errors.__doc__ is not None
    assert all(error.__name__ in errors.__doc__ for error in found)


def test_the_message_begins_with_the_code() -> None:
    assert str(RecoveryError("gone")) == "[FK300] gone"
    error = ProblemError("edges.e1.src", "unknown processor 'z'")
    assert str(error) == "[FK200] edges.e1.src: unknown processor 'z'"
    assert error.place == "edges.e1.src"
