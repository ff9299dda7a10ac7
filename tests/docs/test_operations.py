"""What the pages for those on call name is there."""

import re

from tests.docs.markdown import ROOT

from falkirk.telemetry import PrometheusListener

SUFFIX = r"_(?:total|bucket|count|sum)$"


def test_every_metric_in_an_alert_is_measured() -> None:
    page = (ROOT / "docs" / "operations" / "what-to-watch.md").read_text("utf-8")
    named = {re.sub(SUFFIX, "", name) for name in re.findall(r"falkirk_\w+", page)}
    measured = {family.name for family in PrometheusListener().registry.collect()}
    assert named
    assert named <= measured
