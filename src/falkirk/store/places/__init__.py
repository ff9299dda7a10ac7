"""Places for the batches of a store: folders, and whatever else Spark can write to."""

from falkirk.store.places.posix import Posix
from falkirk.store.places.protocol import Part, Place, UnreachableError
from falkirk.store.places.reaching import reached

__all__ = ["Part", "Place", "Posix", "UnreachableError", "reached"]
