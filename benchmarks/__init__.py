"""Benchmarks: what falkirk costs, measured and printed as tables.

``python -m benchmarks`` runs them all, ``python -m benchmarks rollback --quick`` runs one on small
sizes. Each is one module with a function ``run(quick)`` that returns a report; to add one, write
the module and name it in ``benchmarks/__main__.py``. Nothing here is a test: no figure is asserted.
"""
