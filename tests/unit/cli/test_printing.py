"""JSON for people: one line for each entry, and for each frontier."""

import json

from tests.unit.cli.documents import EXAMPLE, RICH, answer

from falkirk.cli.printing import laid_out

ANSWER = {
    "frontiers": {"p": [[0, "inf"], [1, 3]], "q": {"d": 4, "e": "inf"}, "r": "top"},
    "reasons": {"p": [{"constraint": "discarded-messages", "edge": None}], "q": []},
}
LAID_OUT = """\
{
  "frontiers": {
    "p": [[0, "inf"], [1, 3]],
    "q": {"d": 4, "e": "inf"},
    "r": "top"
  },
  "reasons": {
    "p": [
      {
        "constraint": "discarded-messages",
        "edge": null
      }
    ],
    "q": []
  }
}"""


def test_a_frontier_is_on_one_line() -> None:
    assert laid_out(ANSWER) == LAID_OUT


def test_it_is_plain_json() -> None:
    for value in (ANSWER, EXAMPLE, RICH, answer(EXAMPLE), answer(RICH), {}, [], "größe", [[]]):
        for ascii_only in (False, True):
            printed = laid_out(value, ascii_only)
            assert json.loads(printed) == value
            assert printed.isascii() or not ascii_only
