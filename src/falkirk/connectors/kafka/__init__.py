"""Kafka: topics as sources and sinks."""

from falkirk.connectors.kafka.columns import json, text
from falkirk.connectors.kafka.sink import KafkaSink
from falkirk.connectors.kafka.source import KafkaSource

__all__ = ["KafkaSink", "KafkaSource", "json", "text"]
