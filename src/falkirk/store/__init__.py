"""The store: durable metadata in SQL and durable batches in Parquet."""

from falkirk.store.files import DamageError, Files
from falkirk.store.lease import Lease, LeaseLostError
from falkirk.store.opening import open_store
from falkirk.store.protocol import Damage, Garbage, Store
from falkirk.store.reference import Reference

__all__ = [
    "Damage",
    "DamageError",
    "Files",
    "Garbage",
    "Lease",
    "LeaseLostError",
    "Reference",
    "Store",
    "open_store",
]
