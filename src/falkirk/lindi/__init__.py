"""Lindi: the everyday operators over batches of rows, which keep nothing between times."""

from falkirk.lindi.groups import Groups
from falkirk.lindi.rows import Rows, rows

__all__ = ["Groups", "Rows", "rows"]
