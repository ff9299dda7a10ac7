"""Requests over HTTP as a source, and their answers as a sink."""

from falkirk.connectors.http.answers import Answers
from falkirk.connectors.http.requests import HttpRequests

__all__ = ["Answers", "HttpRequests"]
