"""Shadow runs: a changed flow beside the live one, on a store of its own, compared and promoted.

A shadow store is a fork of the live store at frontiers that the solver chooses. A processor that
changed can be restored to ∅ alone; everything else follows from that.
"""
