"""Runs as other systems see them: Prometheus metrics, OpenTelemetry spans, logs in JSON."""

from falkirk.telemetry.logs import JsonFormatter, LogListener
from falkirk.telemetry.prometheus import PrometheusListener
from falkirk.telemetry.spans import SpanListener

__all__ = ["JsonFormatter", "LogListener", "PrometheusListener", "SpanListener"]
