"""``falkirk explain``: root causes are told from what follows from them."""

import json

from tests.unit.cli.stories import Make, falkirk, shop
from tests.unit.dataflow.ends import Sink, Source

import falkirk as fk
from falkirk.core.errors import ConfigurationError


def explained(*arguments: str) -> dict:
    return json.loads(falkirk("explain", *arguments, "--store", "state", "--json").output)


def test_the_one_that_saves_seldom_is_the_root_and_others_follow(story: Make) -> None:
    story().epochs(8).stop()
    found = explained()
    (root,) = found["roots"]
    assert root["processor"] == "totals"
    assert root["holds"] == ["orders", "written"]
    assert "newest checkpoint is epoch 4" in root["words"]
    assert "lazy(every=5)" in root["words"]
    by_name = {each["processor"]: each for each in found["processors"]}
    assert by_name["totals"]["causes"] == []
    assert by_name["orders"]["roots"] == ["totals"]
    assert by_name["orders"]["way"] == ["orders", "sold", "totals"]


def test_a_step_names_edge_constraint_and_section(story: Make) -> None:
    story().epochs(8).stop()
    (orders,) = explained("orders")["processors"]
    (cause,) = orders["causes"]
    assert cause["edge"] == "orders>sold"
    assert cause["constraint"] == "discarded-messages"
    assert cause["by"] == "sold"
    assert cause["section"].startswith("§3.5")
    assert "kept no copy" in cause["words"]
    assert "epoch 5" in cause["words"]


def test_behind_a_log_nobody_is_held_down_by_those_after_it(story: Make) -> None:
    story(shop(orders=fk.batch())).epochs(8).stop()
    found = {each["processor"]: each for each in explained()["processors"]}
    assert found["orders"]["held"] is False
    assert found["orders"]["stands"]["words"] == "epoch 7"
    (cause, *_) = found["written"]["causes"]
    assert cause["constraint"] == "delivered-messages"
    assert "vouches for epoch 4 only" in cause["words"]


def test_one_that_has_saved_nothing_is_named_as_such(story: Make) -> None:
    story(shop(fk.lazy()), stuck=["written"]).epochs(3).stop()
    (root,) = explained()["roots"]
    assert root["processor"] == "written"
    assert "no checkpoint of it is durable yet" in root["words"]


def test_when_all_is_saved_nobody_is_held_down(story: Make) -> None:
    story().epochs(5).stop()
    assert explained()["roots"] == []
    assert "Nobody is held down" in falkirk("explain", "--store", "state").output


def test_two_branches_have_a_root_each(story: Make) -> None:
    flow = fk.Dataflow("branches")
    read = flow.read(Source(), name="orders", policy=fk.batch())
    for name, every in (("left", 3), ("right", 5)):
        read.group_by("item").count(name=name, policy=fk.lazy(every=every)).write(
            Sink(), name=f"{name}-out"
        )
    story(flow).epochs(7).stop()
    roots = {root["processor"]: root["holds"] for root in explained()["roots"]}
    assert roots == {"left": ["left-out"], "right": ["right-out"]}


def test_the_text_for_one_goes_from_the_root_to_it(story: Make) -> None:
    story().epochs(8).stop()
    text = falkirk("explain", "orders", "--store", "state").output
    assert text.index("Root cause") < text.index("sold ← totals") < text.index("orders ← sold")


def test_a_name_that_nobody_has_is_answered_with_the_nearest(story: Make) -> None:
    story().epochs(1).stop()
    result = falkirk("explain", "total", "--store", "state")
    assert isinstance(result.exception, ConfigurationError)
    assert "did you mean 'totals'?" in str(result.exception)
