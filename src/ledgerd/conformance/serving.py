"""An adapter in Python: reads questions, a line each, calls a function for each, and writes the answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TextIO

from ledgerd.codec.json.text import Json

AdapterFunction = Callable[[dict[str, Json]], Json]
"""Arguments by name, and what comes back."""


def serve(functions: Mapping[str, AdapterFunction], questions: TextIO, answers: TextIO) -> None:
    """Answer every question; what no function is offered for is said to be so, and a failure is an answer too."""
    for line in questions:
        question = json.loads(line)
        answer = _answer(functions.get(question["function"]), question["arguments"])
        answers.write(json.dumps({"id": question["id"], **answer}) + "\n")


def _answer(function: AdapterFunction | None, arguments: dict[str, Json]) -> dict[str, Json]:
    if function is None:
        return {"not_offered": True}
    try:
        return {"result": function(arguments)}
    except Exception as problem:  # noqa: BLE001 - whatever a library raises is its answer
        return {"error": f"{type(problem).__name__}: {problem}"}
