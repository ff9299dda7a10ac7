"""The rollback problem as a file: the exchange format of ``falkirk solve``.

A problem is JSON: processors with their domains and what they can restore, and edges with their
projections. The answer is JSON too, frontiers in the same notation. Every complaint names the
place, in one line.
"""

from falkirk.core.problem.reader import read_problem
from falkirk.core.problem.writer import notation, write_solution

__all__ = ["notation", "read_problem", "write_solution"]
