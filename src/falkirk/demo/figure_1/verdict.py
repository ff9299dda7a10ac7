"""The verdict: what clients were told and what the database holds, against a run without failures.

``python -m falkirk.demo.figure_1.verdict`` starts Spark, reads the name of a file from standard
input, in which a demonstration wrote its queries down, and prints what is wrong as a list in JSON.
"""

import json
import sys
from pathlib import Path
from typing import Any

from falkirk.demo.figure_1.checking import with_epochs, wrong_answers, wrong_rows
from falkirk.demo.figure_1.clients import Query
from falkirk.demo.figure_1.flow import WINDOW_EPOCHS


def write_queries(path: Path, queries: list[Query], database: str, rows: int) -> None:
    """Writes down what clients asked and were told."""
    told = [
        {"key": q.key, "user": q.user, "asked": q.asked, "answered": q.answered, "answer": q.answer}
        for q in queries
    ]
    path.write_text(json.dumps({"queries": told, "database": database, "rows": rows}))


def found_wrong(path: Path, session: Any) -> list[str]:
    """Everything that a run without failures would not have shown."""
    told = json.loads(path.read_text())
    queries = [
        Query(q["key"], q["user"], q["asked"], q["answered"], 1, q["answer"])
        for q in told["queries"]
    ]
    found = [f"query {q.key} was never answered" for q in queries if q.answer is None]
    answers = {q.key: q.answer for q in queries if q.answer is not None}
    epochs = 1 + max(
        [0]
        + [a["circles_version"] or 0 for a in answers.values()]
        + [((a["ranks_version"] or 0) + 1) * WINDOW_EPOCHS for a in answers.values()]
    )
    found += wrong_answers(queries, with_epochs(session, told["rows"], epochs))
    return found + wrong_rows(answers, *tables_of(told["database"]))


def tables_of(database: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The rows of both tables."""
    from sqlalchemy import create_engine, text

    from falkirk.connectors.sql.address import parsed

    engine = create_engine(parsed(database))
    with engine.connect() as connection:
        both = [
            [dict(row._mapping) for row in connection.execute(text(f"SELECT * FROM {table}"))]
            for table in ("queries", "users")
        ]
    engine.dispose()
    return both[0], both[1]


def main() -> None:
    """Prints what is wrong, once it is told where to look."""
    from falkirk.runtime.session import start_session

    session = start_session("figure-1-verdict", "local[2]")
    try:
        path = sys.stdin.readline().strip()
        if path:
            print(json.dumps(found_wrong(Path(path), session)))
    finally:
        session.stop()


if __name__ == "__main__":
    main()
