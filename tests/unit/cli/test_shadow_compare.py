"""What a shadow and the live flow show, compared by time."""

from pathlib import Path

from tests.unit.cli.shadows import (
    begun,
    epoch,
    fork,
    played,
    shop,
)
from tests.unit.cli.stories import Make, falkirk

from falkirk.inspection.shadow.comparing import compare, spans_of
from falkirk.inspection.shadow.ends import End


def test_epochs_that_became_one_are_compared_as_one() -> None:
    assert spans_of([], 2, 4) == [(2, 2), (3, 3), (4, 4)]
    assert spans_of([End(3, 1, None), End(4, 4, None)], 0, 5) == [(0, 0), (1, 3), (4, 4), (5, 5)]
    assert spans_of([End(3, 1, None), End(4, 2, None)], 0, 4) == [(0, 0), (1, 4)]
    assert spans_of([End(9, 3, None)], 0, 5) == [(0, 0), (1, 1), (2, 2)]


def test_rows_are_compared_as_bags(story: Make, tmp_path: Path) -> None:
    story(shop()).epochs(3).stop()
    fork(shop())
    played(tmp_path, shop(), 3)
    story(shop()).epochs(3).stop()
    shown = tmp_path / "shown"
    epoch(shown, 3, 3)
    epoch(shown, 4, 4, 4)
    (found,) = compare("shadow", {"written": str(shown)}).outputs
    assert (found.first, found.last, found.equal) == (3, 5, 1)
    assert (found.only_live, found.only_shadow) == (1, 1)
    assert [(span.first, span.rows.live_sample) for span in found.spans] == [
        (4, ({"value": 4},)),
        (5, ()),
    ]
    assert falkirk("shadow", "compare", "--store", "shadow").exit_code == 0


def test_of_many_epochs_that_differ_the_page_shows_some(story: Make, tmp_path: Path) -> None:
    story(shop()).epochs(1).stop()
    fork(shop())
    played(tmp_path, shop(), 15)
    story(shop()).epochs(15).stop()
    for number in range(1, 16):
        epoch(tmp_path / "shown", number, -number)
    result = falkirk("shadow", "compare", "--store", "shadow", "--live", "written=shown")
    assert result.exit_code == 1
    assert result.output.count("only live") == 10
    assert "and 5 more, up to epoch 15" in result.output


def test_an_output_that_is_nowhere_to_be_found_is_not_comparable(story: Make) -> None:
    begun(story)
    fork(shop("amount > 1"))
    (found,) = compare("shadow").outputs
    assert not found.comparable
    assert "--live OUTPUT=FOLDER" in found.why
