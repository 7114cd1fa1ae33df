"""Copies of a node's state on other machines, kept by the changes of its commits; no rules are run there."""
