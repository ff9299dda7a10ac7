"""Shipped to users: a simulator that puts a flow through failures, and what it is made of."""
