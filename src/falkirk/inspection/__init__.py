"""Questions about a flow and its store: what stands where, why, and what would happen if.

Nothing here needs Spark. What is asked of a store is read in one consistent look, beside a live run
or after it; what is asked of a flow follows from its description. Answers are plain values: the
command line lays them out, and ``--json`` prints them as they are.
"""
