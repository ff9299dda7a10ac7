"""What stops a flow when a source or a sink does."""

import pytest

from falkirk.core.errors import ConnectorError, OutageError, PermanentError
from falkirk.runtime.described import described


@pytest.mark.parametrize("kind", [ConnectorError, OutageError, PermanentError])
def test_it_is_of_the_same_flavour_as_what_was_raised(kind: type[ConnectorError]) -> None:
    found = described(kind("no route"), "the sink 'out' did not take (3,)", "It is staged")
    assert type(found) is kind
    code, said = kind.code, "the sink 'out' did not take (3,): no route. It is staged;"
    assert str(found) == f"[{code}] {said} mend that and run again"


def test_what_is_not_ours_is_named() -> None:
    found = described(KeyError("n"), "the source 'in' could not be read")
    assert type(found) is ConnectorError
    assert "KeyError: 'n'. Mend that and run again" in str(found)
