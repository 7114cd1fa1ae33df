"""A method whose time is over at the very moment at which it ends costs neither the process nor a commit kept open."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

from ledgerd.plugins.declarations import API_VERSION, ApiPlugin
from ledgerd.plugins.messages import MethodAnswer, MethodRequest
from ledgerd.plugins.reading import NodeReadView
from ledgerd.plugins.serving import MethodCalls, TookTooLong
from ledgerd.plugins.values import ReadView
from ledgerd.rpc.call.limits import Limits

ASKED = msgspec.json.encode(MethodRequest("quick", [], "a client", 0))


class NoDispatcher:
    """Of a node that no method asks."""

    node = None

    def head_changed(self) -> None:
        """Nothing is remembered."""


class LateCalls(MethodCalls):
    """Its time is over while it is being stopped, once."""

    is_late = True
    seconds = -1.0

    def _time(self, seconds: float) -> None:
        if not seconds and self.is_late:
            self.is_late = False
            raise TookTooLong
        self.seconds = seconds


def test_a_call_that_is_interrupted_as_it_ends_leaves_no_timer_and_no_view(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[NodeReadView] = []
    monkeypatch.setattr(NodeReadView, "close", lambda view: closed.append(view))  # noqa: PLW0108 - so that it is bound
    plugin = ApiPlugin("Quick.", api_version=API_VERSION)

    @plugin.method
    def quick(view: ReadView) -> int:
        return 1 if view is not None else 0

    calls = LateCalls("quick", plugin, cast("Any", NoDispatcher()), Limits(), tmp_path)
    answer = msgspec.json.decode(calls.answer(ASKED), type=MethodAnswer)

    assert answer.message == "quick.quick took more than 2 s"
    assert (calls.seconds, len(closed)) == (0, 1)
