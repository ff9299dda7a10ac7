"""The application of the paper's Figure 1, to run and to break by hand.

    falkirk run examples/figure_1/app.py --store state
    curl -H 'Idempotency-Key: 1' --json '{"user": 7}' http://127.0.0.1:8765/query

`falkirk demo` does all of it by itself. The flow is in falkirk.demo.figure_1.flow.
"""

import os

import falkirk as fk
from falkirk.demo.figure_1.flow import figure_1
from falkirk.demo.figure_1.records import Records

server = fk.HttpRequests("user BIGINT", path="/query", port=8765)
database = os.environ.get("FIGURE_1_DATABASE", "sqlite:///statistics.sqlite")
flow = figure_1(Records(rows_per_epoch=4_000, seconds=1.0), server, database)

if __name__ == "__main__":
    fk.run(flow, store="state")
