"""Findings on the configuration: what keeps the node from starting, and what is probably meant otherwise."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ledgerd.doctor.finding import Finding, error, warning

OPEN_KEYS = "chmod 600"
"""Remarks with these words are about open key files, which `keys` finds by itself."""


def wrong(problems: Iterable[str]) -> Iterator[Finding]:
    for problem in problems:
        yield error(
            "configuration-wrong",
            what=problem,
            why="the node ends at once with exit code 2, and its service is not started again",
            do="correct the option; `ledgerd --check-config` prints what is understood",
        )


def doubtful(remarks: Iterable[str], without_meaning: Iterable[str]) -> Iterator[Finding]:
    for remark in remarks:
        if OPEN_KEYS not in remark:
            yield warning(
                "configuration-doubtful",
                what=remark,
                why="the option probably does something else than was meant",
                do="look the option up in docs/configuration.md, and change or remove it",
            )
    ignored = ", ".join(without_meaning)
    if ignored:
        yield warning(
            "options-ignored",
            what=f"these options do nothing in this node: {ignored}",
            why="they are options of vizd; what they should do does not happen",
            do="remove them, or leave them if the file is shared with vizd",
        )
