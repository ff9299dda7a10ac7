"""Stores for the dashboard to look at: the real machine has run a flow into them, without Spark."""

from pathlib import Path

from tests.unit.cli.stories import Story
from tests.unit.dataflow.ends import Sink, Source

import falkirk as fk


def storefront() -> fk.Dataflow:
    """Two branches: orders are logged, so totals goes back alone; clicks are not."""
    flow = fk.Dataflow("storefront")
    orders = flow.read(Source(), name="orders", policy=fk.batch())
    clicks = flow.read(Source(), name="clicks", policy=fk.lazy())
    sold = orders.where("amount > 0", name="sold")
    totals = sold.group_by("item").count(name="totals", policy=fk.lazy(every=5))
    visits = clicks.group_by("item").count(name="visits", policy=fk.lazy(every=2))
    totals.write(Sink(), name="ledger")
    visits.write(Sink(), name="screen")
    return flow


def stopped(place: Path, epochs: int = 12) -> str:
    """A store of which nothing was released, and whose process is gone."""
    Story(storefront(), place, embedded=False).epochs(epochs).stop()
    return str(place)
