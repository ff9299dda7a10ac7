"""Figure 1 as a flow.

::

    queries ─▶ with rank ─▶ with circle ─▶ once ─▶ statistics ─▶ database
                   ▲             ▲           └───▶ the user
                   │ latest      │ latest
    records ─▶ views ─▶ ranks    │                  ephemeral: records, views, friendships
        └────▶ friendships ─▶ circles               batch: windows, ranks
                                                    lazy checkpoint: circles
                                                    eager checkpoint: once, statistics

Users ask for someone's rank and circle. Ranks come from a batch computation over a window of
records, run again and again. Circles are the connected components of all friendships so far, kept
up to date. A query is answered from the newest versions of both, which never wait for each other.

A client whose connection breaks sends its query again, under the same key. It gets the answer that
was stored for it, if there is one, so the database always agrees with what users were told.
"""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import falkirk as fk
from falkirk.core.times import Time
from falkirk.demo.figure_1.records import SCHEMA
from falkirk.differential import collection, graphs
from falkirk.lindi import rows

WINDOW_EPOCHS = 3
"""How many epochs of records the batch computation is run over."""


ANSWER = ("user", "rank", "ranks_version", "circle", "circles_version")
"""The columns of an answer."""

ALL, FRESH = range(2)
"""The ports of :class:`Once`."""


class Stamped(fk.Processor):
    """Writes the epoch of each version into its rows, so that every answer can be checked."""

    stateless = True
    inline = True

    def __init__(self, column: str) -> None:
        """Into ``column``."""
        self.column = column

    def on_message(self, ctx: fk.Context, port: int, time: Time, batch: fk.Batch) -> None:
        """Adds the column."""
        epoch = f"CAST({time[0]} AS BIGINT) AS {self.column}"
        ctx.send(batch.transform(lambda frame: frame.selectExpr("*", epoch)))


class Once(fk.Processor):
    """Answers a query that was answered before as before, and tells which ones are new.

    It keeps all answers by their keys. What it keeps and what it sends are durable before anyone
    sees them, so a client and the database are told the same, however often it asks. An
    epoch of queries is one job, with the joins that come before: all of it is one plan.
    """

    outputs = 2

    def on_message(self, ctx: fk.Context, port: int, time: Time, batch: fk.Batch) -> None:
        """Waits until the epoch is complete."""
        ctx.state.put(batch, label="asked", passing=True)
        ctx.notify()

    def on_notify(self, ctx: fk.Context, time: Time) -> None:
        """Sends all answers, and the new ones once more by themselves."""
        asked, known = ctx.union(ctx.state.own("asked")), ctx.state.visible("answered")
        ctx.state.clear()
        if known:
            asked = ctx.join(asked, ctx.union(known).transform(as_older), ["_key"], "left")
        chosen = first_answers if known else all_fresh
        answers = asked.transform(chosen).materialise().arrow()
        fresh = ctx.batch(answers.filter(answers["fresh"]).drop_columns(["_request", "fresh"]))
        ctx.send(ctx.batch(answers.drop_columns(["fresh"])), port=ALL)
        ctx.send(fresh, port=FRESH)
        ctx.state.put(fresh, label="answered")


def as_older(frame: Any) -> Any:
    """Answers that were given before, by their keys."""
    return frame.selectExpr("_key", f"struct({', '.join(ANSWER)}) AS old")


def first_answers(frame: Any) -> Any:
    """The older answer where there is one."""
    chosen = [f"IF(old IS NULL, {name}, old.{name}) AS {name}" for name in ANSWER]
    return frame.selectExpr("_request", "_key", *chosen, "old IS NULL AS fresh")


def all_fresh(frame: Any) -> Any:
    """No answer was given before."""
    return frame.selectExpr("_request", "_key", *ANSWER, "true AS fresh")


@dataclass(frozen=True, slots=True)
class Regimes:
    """The policy of each part; the inputs and the query path have what suits each, without one."""

    reduction: fk.Policy = field(default_factory=fk.ephemeral)
    ranks: fk.Policy = field(default_factory=fk.batch)
    circles: fk.Policy = field(default_factory=fk.lazy)
    answers: fk.Policy = field(default_factory=fk.eager)
    path: fk.Policy | None = None

    @classmethod
    def all_alike(cls, policy: fk.Policy) -> "Regimes":
        """One policy for everybody, as systems have it that know one only."""
        return cls(policy, policy, policy, policy, policy)


def figure_1(
    source: Any,
    server: fk.HttpRequests,
    database: str,
    encoded: bool = False,
    regimes: Regimes | None = None,
) -> fk.Dataflow:
    """The flow over ``source``, answering at ``server``, with its statistics in ``database``.

    Records are rows, or if they are ``encoded`` the JSON that Kafka has as their values. Without
    ``regimes`` it has the four of the figure.
    """
    flow, chosen = fk.Dataflow("figure-1"), regimes or Regimes()
    with region(flow, chosen.path):
        records = flow.read(source, name="records")
    with flow.policy(chosen.reduction):
        if encoded:
            records = decoded(records)
        views = reduced_views(records)
        friendships = reduced_friendships(records)
    with flow.policy(chosen.ranks):
        ranks = ranked(views)
    with flow.policy(chosen.circles):
        circles = connected(friendships)
    with region(flow, chosen.path):
        queries = flow.read(server, name="queries")
        found = answered(queries, ranks, circles)
    with flow.policy(chosen.answers):
        answers = found.process(Once(), name="once")
        keep_statistics(answers.port(FRESH), database)
    answers.port(ALL).write(server.answers(), name="responses")
    return flow


def region(flow: fk.Dataflow, policy: fk.Policy | None) -> AbstractContextManager[None]:
    """A region with ``policy``, or none."""
    return nullcontext() if policy is None else flow.policy(policy)


def decoded(records: fk.Stream) -> fk.Stream:
    """Records out of Kafka's values."""
    parsed = records.select(
        f"from_json(CAST(value AS STRING), '{SCHEMA}') AS record", name="parsed"
    )
    fields = (each.split()[0] for each in SCHEMA.split(", "))
    return parsed.select(*(f"record.{field} AS {field}" for field in fields), name="decoded")


def reduced_views(records: fk.Stream) -> fk.Stream:
    """How often each user looked at something, and for how long, in one epoch."""
    views = rows(records.where("kind = 'view'", name="viewing"))
    per_user = views.group_by("user").agg(
        "count(*) AS views", "sum(milliseconds) AS milliseconds", name="views"
    )
    return per_user.stream


def reduced_friendships(records: fk.Stream) -> fk.Stream:
    """Who befriended whom in one epoch, once."""
    friends = records.where("kind = 'friend' AND user != friend", name="befriending")
    pairs = friends.select("least(user, friend) AS a", "greatest(user, friend) AS b", name="pairs")
    return rows(pairs).distinct(name="friendships").stream


def ranked(views: fk.Stream) -> fk.Stream:
    """Users by how often they looked, over windows of some epochs."""
    window = views.in_sequence(name="in-order").windows(count=WINDOW_EPOCHS, name="window")
    totals = (
        rows(window)
        .group_by("user")
        .agg("sum(views) AS views", "sum(milliseconds) AS milliseconds", name="totals")
    )
    ranks = totals.transform(
        lambda frame: frame.selectExpr(
            "user", "views", "rank() OVER (ORDER BY views DESC, milliseconds DESC) AS rank"
        ),
        name="ranks",
    )
    return ranks.stream.process(Stamped("ranks_version"), name="ranks-version")


def connected(friendships: fk.Stream) -> fk.Stream:
    """The circle of each user who has friends: a name that all of them share."""
    edges = collection(friendships).distinct(name="known")
    components = graphs.connected_components(edges.map("a AS src", "b AS dst"), at_once=True)
    circles = components.map("node AS user", "component AS circle").versions(name="circles")
    return circles.process(Stamped("circles_version"), name="circles-version")


def answered(queries: fk.Stream, ranks: fk.Stream, circles: fk.Stream) -> fk.Stream:
    """Queries with the newest rank and the newest circle of the user that they ask for."""
    nothing = {"views": "0L", "rank": "CAST(NULL AS INT)", "ranks_version": "-1L"}
    with_rank = queries.join_latest(
        ranks, on="user", how="left", otherwise=nothing, name="with-rank"
    )
    alone = {"circle": "CAST(NULL AS BIGINT)", "circles_version": "-1L"}
    return with_rank.join_latest(
        circles, on="user", how="left", otherwise=alone, name="with-circle"
    )


def keep_statistics(answers: fk.Stream, database: str) -> None:
    """One row for each query; how often each user was asked for, and the best rank told."""
    answers.write(fk.TableSink(database, "queries"), name="query-log")
    asked = answers.group_by("user").agg(queries="count(*)", best="min(rank)", name="asked")
    asked.write(fk.TableSink(database, "users", mode="upsert", key="user"), name="statistics")
