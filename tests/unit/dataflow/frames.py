"""Frames as lists of rows: as much of a DataFrame as the built-in operators use."""

import re
from collections.abc import Callable, Iterable
from typing import Any

Row = dict[str, Any]

FUNCTIONS: dict[str, Callable[[list[Any]], Any]] = {
    "sum": lambda values: sum(values) if values else None,
    "count": len,
    "min": lambda values: min(values, default=None),
    "max": lambda values: max(values, default=None),
}


class Frame:
    """Columns and rows."""

    def __init__(self, columns: Iterable[str], rows: Iterable[Row]) -> None:
        self.columns, self.rows = list(columns), list(rows)

    @property
    def dtypes(self) -> list[tuple[str, str]]:
        """Columns have no types here."""
        return [(column, "") for column in self.columns]

    def unionByName(self, other: "Frame") -> "Frame":
        """The rows of both."""
        return Frame(self.columns, [*self.rows, *other.rows])

    def selectExpr(self, *expressions: str) -> "Frame":
        """Understands columns, numbers, casts of them and try_divide, each with a name or none."""
        every = {name: name for name in self.columns if "*" in expressions}
        named = [
            re.fullmatch(r"(CAST\(.+\)|.+?)(?: AS `?([^`]+)`?)?", e)
            for e in expressions
            if e != "*"
        ]
        chosen = every | {m[2] or m[1].strip("`"): m[1] for m in named if m}
        rows = [{name: value(row, text) for name, text in chosen.items()} for row in self.rows]
        return Frame(chosen, rows)

    def where(self, condition: str) -> "Frame":
        """Understands `false`, one column that is true or not, and one that is above a number."""
        column, _, bound = condition.partition(" > ")
        kept = [row for row in self.rows if condition != "false" and row[column]]
        if bound:
            kept = [row for row in self.rows if row[column] > int(bound)]
        return Frame(self.columns, kept)

    def drop(self, column: str) -> "Frame":
        """All other columns."""
        return self.selectExpr(*(name for name in self.columns if name != column))

    def groupBy(self, *keys: str) -> "Groups":
        return Groups(self, keys)

    def join(self, other: "Frame", on: list[str], how: str) -> "Frame":
        """The join with the columns ``on`` first."""
        mine = [c for c in self.columns if c not in on]
        its = [c for c in other.columns if c not in on]
        rows, met = [], set[int]()
        for left in self.rows:
            found = [r for r in other.rows if all(left[c] == r[c] for c in on)]
            met |= {id(r) for r in found}
            if how in ("semi", "anti"):
                rows += [left] if bool(found) == (how == "semi") else []
            elif not found and how in ("left", "full"):
                rows.append(left | dict.fromkeys(its))
            else:
                rows += [left | right for right in found]
        if how in ("right", "full"):
            rows += [dict.fromkeys(mine) | r for r in other.rows if id(r) not in met]
        if how in ("semi", "anti"):
            return Frame(self.columns, rows)
        return Frame([*on, *mine, *its], rows)


class Groups:
    """A grouped frame."""

    def __init__(self, frame: Frame, keys: tuple[str, ...]) -> None:
        self.frame, self.keys = frame, keys

    def agg(self, functions: dict[str, str]) -> Frame:
        """As in Spark, the order of the new columns is not that of the mapping."""
        names = {f"{f}({c})": (c, f) for c, f in sorted(functions.items(), reverse=True)}
        groups: dict[tuple[Any, ...], list[Row]] = {}
        for row in self.frame.rows:
            groups.setdefault(tuple(row[key] for key in self.keys), []).append(row)
        rows = []
        for group, members in groups.items():
            made = dict(zip(self.keys, group, strict=True))
            for name, (column, function) in names.items():
                present = [row[column] for row in members if row[column] is not None]
                made[name] = FUNCTIONS[function](present)
            rows.append(made)
        return Frame([*self.keys, *names], rows)


def value(row: Row, text: str) -> Any:
    """What an expression is for one row."""
    if divided := re.fullmatch(r"try_divide\(`(.+)`, `(.+)`\)", text):
        total, count = row[divided[1]], row[divided[2]]
        return total / count if count else None
    if cast := re.fullmatch(r"CAST\((.+) AS BIGINT\)", text):
        text = cast[1]
    if text.strip("`") in row:
        return row[text.strip("`")]
    return {"NULL": None}.get(text) if text == "NULL" else int(text)
