"""Nodes that are measured."""

from __future__ import annotations

from collections.abc import Sequence

from tests.node.processes import PROGRAM, NodeProcess


def start_node(*words: str, program: Sequence[str] = PROGRAM) -> NodeProcess:
    """One that starts by its program. A node of the tests is a copy of a process that has loaded all: it starts sooner,
    shares memory with others, and is of this revision whatever the environment says.
    """
    return NodeProcess(*words, program=program)
