"""Carries out the decisions of `falkirk.core` on Spark."""
