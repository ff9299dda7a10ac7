"""Stateless pipelines beside the same plan written directly in PySpark."""
