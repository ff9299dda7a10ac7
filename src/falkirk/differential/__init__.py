"""Differential: collections that change over time, and computations that follow the changes."""

from falkirk.differential.collection import Collection, Groups, Loop, Variable, collection

__all__ = ["Collection", "Groups", "Loop", "Variable", "collection"]
