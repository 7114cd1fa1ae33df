"""Whoever reads records in part learns from their declarations where fields stand."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

from tests.house.source_tree import ROOT


def test_a_field_may_move_in_its_declaration() -> None:
    command = [sys.executable, "-m", "tests.rpc.api.moved_fields"]
    done = subprocess.run(  # noqa: S603 - our own module
        command, cwd=ROOT, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.stderr == ""
    lines = [line.split() for line in done.stdout.splitlines()]
    assert len(lines) == 7
    for module, name, field, place in lines:
        record = getattr(import_module(module), name)
        assert int(place) != record.__struct_fields__.index(field)
