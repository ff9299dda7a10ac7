"""What every answer should have been: worked out from the records by other means.

An answer names the versions that it was made from. Ranks are computed again with plain Spark, and
circles with a union-find in Python; neither uses anything of falkirk's.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from falkirk.demo.figure_1.clients import Query
from falkirk.demo.figure_1.flow import ANSWER, WINDOW_EPOCHS
from falkirk.demo.figure_1.records import COLUMNS

Answer = dict[str, Any]
Row = dict[str, Any]


class Circles:
    """The components of a graph to which edges are added."""

    def __init__(self) -> None:
        """Nobody knows anybody."""
        self.parents: dict[int, int] = {}

    def root(self, user: int) -> int:
        """The least user of a circle."""
        while (parent := self.parents.setdefault(user, user)) != user:
            self.parents[user] = self.parents[parent]
            user = self.parents[user]
        return user

    def join(self, a: int, b: int) -> None:
        """Two users are friends."""
        first, second = sorted((self.root(a), self.root(b)))
        self.parents[second] = first

    def of(self, user: int) -> int | None:
        """The circle of a user, if there is one."""
        return self.root(user) if user in self.parents else None


def circles_at(
    friends: Iterable[tuple[int, int, int]], wanted: Iterable[tuple[int, int]]
) -> dict[tuple[int, int], int | None]:
    """The circle of each wanted (version, user), from (epoch, user, friend)."""
    by_epoch: dict[int, list[tuple[int, int]]] = {}
    for epoch, a, b in friends:
        by_epoch.setdefault(epoch, []).append((a, b))
    circles, epoch, found = Circles(), -1, {}
    for version, user in sorted(wanted):
        while epoch < version:
            epoch += 1
            for a, b in by_epoch.get(epoch, ()):
                circles.join(a, b)
        found[version, user] = circles.of(user)
    return found


def with_epochs(session: Any, rows_per_epoch: int, epochs: int) -> Any:
    """All records of so many epochs, each with its epoch."""
    numbers = session.range(0, rows_per_epoch * epochs, 1, 2)
    return numbers.selectExpr(*COLUMNS, f"id DIV {rows_per_epoch} AS epoch")


def friends_of(records: Any) -> list[tuple[int, int, int]]:
    """(epoch, user, friend) of all friendships."""
    friends = records.where("kind = 'friend' AND user != friend")
    return [tuple(row) for row in friends.select("epoch", "user", "friend").collect()]


def ranks_at(records: Any, versions: Sequence[int]) -> dict[tuple[int, int], int | None]:
    """The rank of every user in each of the wanted windows, by (version, user)."""
    from pyspark.sql import functions as F

    views = records.where("kind = 'view'").withColumn(
        "version", F.expr(f"epoch DIV {WINDOW_EPOCHS}")
    )
    totals = (
        views.where(F.col("version").isin([*versions]))
        .groupBy("version", "user")
        .agg(F.count("*").alias("views"), F.sum("milliseconds").alias("milliseconds"))
    )
    order = "PARTITION BY version ORDER BY views DESC, milliseconds DESC"
    ranked = totals.selectExpr("version", "user", f"rank() OVER ({order}) AS rank")
    return {(row.version, row.user): row.rank for row in ranked.collect()}


class Versions:
    """Which versions of one kind answers named, and when: a later question sees no older one."""

    def __init__(self, queries: Sequence[Query], column: str) -> None:
        """Of the versions that stand in ``column`` of the answers."""
        named = [(q, q.answer[column]) for q in queries if q.answer is not None]
        self.column = column
        self.named = [(q, version) for q, version in named if version is not None]
        self.newest = max((version for _, version in self.named), default=-1)

    def least(self, query: Query) -> int:
        """The oldest version that may have been there when ``query`` was asked."""
        known = [v for q, v in self.named if q.answered is not None and q.answered < query.asked]
        return max(known, default=-1)

    def most(self, query: Query) -> int:
        """The newest version that may have been there when ``query`` was answered."""
        if query.answered is None:
            return self.newest
        return min((v for q, v in self.named if q.asked > query.answered), default=self.newest)

    def possible(self, query: Query) -> range:
        """The versions that an answer may have been made from: the one it names, if it does.

        One that names none was made from a version that lacks the user; before the first version
        answers name -1.
        """
        assert query.answer is not None
        named = query.answer[self.column]
        first, last = max(self.least(query), 0), self.most(query)
        return range(first, last + 1) if named is None else range(named, named + 1)


def wrong_answers(queries: Sequence[Query], records: Any) -> list[str]:
    """Which answers are not what the records say at their versions.

    A user whom a version does not have is told no version; then it must be one that was there.
    """
    ranked, circled = Versions(queries, "ranks_version"), Versions(queries, "circles_version")
    answered = [query for query in queries if query.answer is not None]
    ranks = ranks_at(records, range(ranked.newest + 1))
    wanted = {(v, query.user) for query in answered for v in circled.possible(query)}
    circles = circles_at(friends_of(records), wanted)
    found = []
    for query in answered:
        answer, user = query.answer or {}, query.user
        for versions, name, truth in ((ranked, "rank", ranks), (circled, "circle", circles)):
            possible = versions.possible(query)
            if len(possible) and possible[0] < versions.least(query):
                found.append(f"query {query.key} saw an older {versions.column} than one before it")
            if possible and answer[name] not in {truth.get((v, user)) for v in possible}:
                should = truth.get((possible[0], user))
                found.append(
                    f"query {query.key} about user {user} was told the {name} {answer[name]} at"
                    f" {versions.column} {answer[versions.column]}; it should be {should}"
                )
    return found


def wrong_rows(
    answers: dict[str, Answer], queries: Sequence[Row], users: Sequence[Row]
) -> list[str]:
    """Where the database does not say what clients were told, once for each query."""
    found = []
    times = Counter(row["_key"] for row in queries)
    found += [f"query {key} is in the database {n} times" for key, n in times.items() if n > 1]
    stored = {row["_key"]: {name: row[name] for name in ANSWER} for row in queries}
    for key, answer in answers.items():
        if key not in stored:
            found.append(f"query {key} was answered, and the database does not know it")
        elif stored[key] != {name: answer[name] for name in ANSWER}:
            found.append(f"query {key} was told {answer}, and the database says {stored[key]}")
    found += [f"the database has {key}, which nobody asked" for key in stored.keys() - answers]
    return found + wrong_statistics(queries, users)


def wrong_statistics(queries: Sequence[Row], users: Sequence[Row]) -> list[str]:
    """Where the statistics are not those of the rows beside them."""
    ranks: dict[int, list[int | None]] = {}
    for row in queries:
        ranks.setdefault(row["user"], []).append(row["rank"])
    best = {
        user: min((r for r in told if r is not None), default=None) for user, told in ranks.items()
    }
    wanted = {user: (len(told), best[user]) for user, told in ranks.items()}
    counted = {row["user"]: (row["queries"], row["best"]) for row in users}
    return [
        f"the statistics say (queries, best rank) {counted.get(user)} of user {user}, and it is"
        f" {wanted.get(user)}"
        for user in sorted(counted.keys() | wanted.keys())
        if counted.get(user) != wanted.get(user)
    ]
