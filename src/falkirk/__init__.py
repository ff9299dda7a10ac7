"""Falkirk Wheel rollback recovery for dataflow, carried out on Apache Spark."""

__version__ = "0.1.0"
