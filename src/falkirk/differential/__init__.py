"""Differential: collections that change over time, and computations that follow the changes."""

from falkirk.differential.collection import Collection, Loop, Variable, collection
from falkirk.differential.groups import Groups

__all__ = ["Collection", "Groups", "Loop", "Variable", "collection"]
