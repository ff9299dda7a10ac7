"""Graph algorithms that follow changes: edges come and go, and the results with them.

A graph is a collection of edges with the columns ``src`` and ``dst``, whole numbers (BIGINT); other
names of vertices can be numbered by ``xxhash64``. A vertex is there as long as an edge has it.
"""

from falkirk.differential.graphs.components import connected_components
from falkirk.differential.graphs.cores import k_core
from falkirk.differential.graphs.pagerank import pagerank
from falkirk.differential.graphs.searches import distances, reachable
from falkirk.differential.graphs.strong import strongly_connected_components
from falkirk.differential.graphs.triangles import triangle_counts, triangles

__all__ = [
    "connected_components",
    "distances",
    "k_core",
    "pagerank",
    "reachable",
    "strongly_connected_components",
    "triangle_counts",
    "triangles",
]
