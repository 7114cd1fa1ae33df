"""The kit against a library: the answers of its adapter, compared with what was recorded."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from ledgerd.client.differing import differences
from ledgerd.codec.json.text import Json
from ledgerd.conformance.comparing import RECORDED, state_differences
from ledgerd.conformance.questions import LibraryQuestion
from ledgerd.conformance.report import ConformanceReport
from ledgerd.conformance.vectors import RecordedChain, read_state_file
from ledgerd.protocol.errors import OperatorError

LONGEST_LINE = 16 << 20
"""Bytes of an answer; of a state only the path of a file is given."""
MOST_ANSWERS = 1_000_000
"""Lines of answers that are read."""
STATE = "state"


def check_answers(
    about: str, questions: Iterable[LibraryQuestion], answers: BinaryIO, chains: list[RecordedChain]
) -> ConformanceReport:
    """A row for each function and subject. A question without an answer was not offered."""
    report, given = ConformanceReport(about), dict(_answers(answers))
    by_name = {each.name: each for each in chains}
    for question in questions:
        check = report.check(question.subject, question.function)
        answer = given.get(question.id)
        if answer is None or answer.get("not_offered"):
            check.not_offered(question.function)
        elif "error" in answer or "result" not in answer:
            check.failed(f"{question.id}: {answer.get('error', 'no result')}")
        elif question.function == STATE:
            _check_state(report, by_name[question.subject], question, answer["result"])
        elif found := next(differences(question.expected, answer["result"]), None):
            check.failed(f"{question.id}: {found.words(RECORDED, 'in the answer')}")
        else:
            check.passed()
    return report


def _check_state(report: ConformanceReport, chain: RecordedChain, question: LibraryQuestion, path: Json) -> None:
    height = int(str(question.arguments["height"]))
    check = report.check(question.subject, STATE)
    try:
        here = read_state_file(Path(str(path)))
    except (OSError, OperatorError) as problem:
        check.failed(f"{question.id}: {problem}")
        return
    found = [(name, difference) for name, difference in state_differences(chain, height, here) if difference]
    if not found:
        check.passed()
    for name, difference in found:
        check.failed(f"{question.id}, {name}: {difference}")


def _answers(lines: BinaryIO) -> Iterator[tuple[str, dict[str, Json]]]:
    for number in range(1, MOST_ANSWERS + 2):
        line = lines.readline(LONGEST_LINE + 1)
        if not line:
            return
        if len(line) > LONGEST_LINE or number > MOST_ANSWERS:
            raise OperatorError(f"line {number} of the answers: too long, or more than {MOST_ANSWERS:,} of them")
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            raise OperatorError(f"line {number} of the answers is not JSON") from None
        if not isinstance(answer, dict) or not isinstance(answer.get("id"), str):
            raise OperatorError(f"line {number} of the answers names no id")
        yield answer["id"], answer
