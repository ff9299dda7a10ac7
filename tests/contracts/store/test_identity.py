"""A store is told from every other one, also from one that was at the same place before."""

from tests.contracts.store.places import Place

from falkirk.store import open_store


def test_a_store_keeps_its_identity(lasting: Place) -> None:
    first = lasting.started().identity
    assert first
    assert lasting.again().identity == first


def test_who_looks_on_sees_the_same_identity(lasting: Place) -> None:
    store = lasting.started()
    assert lasting.open().identity == store.identity


def test_two_stores_have_two_identities() -> None:
    one, other = open_store("memory:"), open_store("memory:")
    assert one.identity != other.identity
    one.close()
    other.close()
