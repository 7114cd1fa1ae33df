"""Failures as a line of a log or a report shows them."""

from __future__ import annotations


def reason_of(problem: BaseException) -> str:
    """The reason of a failure in words, with the file if there is one."""
    if isinstance(problem, TimeoutError):
        return "no answer in time"
    if isinstance(problem, OSError) and problem.strerror:
        place = f"{problem.filename}: " if problem.filename else ""
        return f"{place}{problem.strerror}"
    return str(problem) or type(problem).__name__
