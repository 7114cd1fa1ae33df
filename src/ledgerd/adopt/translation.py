"""The configuration of a `vizd` as one of ours: each line with what becomes of it, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from ledgerd.adopt.vizd_directory import AdoptionRefused, entries_of
from ledgerd.basics.printable import printable
from ledgerd.node.config.configuration import read_configuration
from ledgerd.node.config.given import LOGGING_SECTIONS, ConfigurationError
from ledgerd.node.config.ini import IniEntry
from ledgerd.node.config.options.application import DEPENDENCIES
from ledgerd.node.config.options.sections import BY_NAME, SECTIONS
from ledgerd.protocol.secrets import holds_key, without_keys

KEY_OPTIONS = {"private-key", "private-key-file", "emergency-private-key"}
PRODUCING = {"validator", "enable-stale-production"}
PLACES = {"snapshot-dir", "shared-file-dir", "block-archive-dir", "data-dir", "config"}
LISTENING = "-endpoint"
"""The ending of options that name an address to listen on."""

MOST_ROUNDS = 20
"""Times that our configuration is read while lines are taken out of it: two are usual."""

MOST_SUMMED_UP = 200
"""Lines that people are told of; all stand in the new file."""

LONGEST_NAME = 100
LONGEST_REASON = 300
"""Characters of a comment, which quotes the old file."""

RENAMED_PLUGINS = {"witness": "validator", "witness_api": "validator_api", "witness_guard": "validator_guard"}


class OptionOutcome(Enum):
    """The outcome for one option."""

    SAME = "same"
    RENAMED = "named otherwise"
    CHANGED = "changed"
    NOT_NEEDED = "not needed here"
    NOT_TAKEN = "not taken over"
    UNKNOWN = "unknown"


class TranslatedLine(NamedTuple):
    """An option of the old file, and the line for it in ours."""

    number: int
    name: str
    outcome: OptionOutcome
    reason: str
    written: str = ""
    section: str = ""


def translate(text: str, port_offset: int) -> list[TranslatedLine]:
    lines = [line for entry in entries_of(text) for line in _lines_of(entry, port_offset)]
    return sorted(lines, key=lambda line: line.number)


def _lines_of(entry: IniEntry, port_offset: int) -> Iterator[TranslatedLine]:
    if entry.key == "plugin" and not entry.section:
        for name in entry.value.replace(",", " ").split():
            yield _plugin_line(entry.line, name)
        return
    yield _line_of(entry, port_offset)


def _plugin_line(number: int, name: str) -> TranslatedLine:
    present = RENAMED_PLUGINS.get(name, name)
    if present not in DEPENDENCIES:
        return TranslatedLine(number, f"plugin {name}", OptionOutcome.UNKNOWN, "ours has no such plugin")
    outcome, reason = (
        (OptionOutcome.SAME, "") if present == name else (OptionOutcome.RENAMED, f"{name} is an older name")
    )
    return TranslatedLine(number, f"plugin {name}", outcome, reason, f"plugin = {present}")


def _line_of(entry: IniEntry, port_offset: int) -> TranslatedLine:
    number, name, value = entry.line, entry.key, entry.value
    if not name:
        return TranslatedLine(number, f"line {number}", OptionOutcome.UNKNOWN, "it is no option, and no section")
    if printable(whole := f"{entry.section}{name}{value}") != whole:
        return TranslatedLine(number, entry.full_key, OptionOutcome.NOT_TAKEN, "it has characters that are not seen")
    if f"{entry.section}.".startswith(LOGGING_SECTIONS):
        return TranslatedLine(number, entry.full_key, OptionOutcome.SAME, "", f"{name} = {value}", entry.section)
    option = BY_NAME.get(name)
    if option is None:
        # The value is not shown: options of old programs hold passwords too.
        return TranslatedLine(number, entry.full_key, OptionOutcome.UNKNOWN, "ours has no such option")
    if option.without_meaning or option.command_line_only:
        return TranslatedLine(
            number, name, OptionOutcome.NOT_NEEDED, option.without_meaning or "it belongs on the command line"
        )
    if not value:
        return TranslatedLine(number, name, OptionOutcome.NOT_NEEDED, "it has no value, so the default holds")
    present = PRESENT.get(name, name)
    if reason := _refusal(present, value):
        return TranslatedLine(number, name, OptionOutcome.NOT_TAKEN, reason)
    if present.endswith(LISTENING) and port_offset and (moved := _moved(value, port_offset)):
        reason = f"so that both listen on this machine; the other is at {value}"
        return TranslatedLine(number, name, OptionOutcome.CHANGED, reason, f"{present} = {moved}")
    outcome, reason = (
        (OptionOutcome.SAME, "") if present == name else (OptionOutcome.RENAMED, f"{name} is an older name")
    )
    return TranslatedLine(number, name, outcome, reason, f"{present} = {value}")


def _refusal(name: str, value: str) -> str:
    if name in KEY_OPTIONS or holds_key(value):
        return "keys are not copied: docs/validators.md says how to move a validator"
    if name in PRODUCING:
        return "only one node may sign for a validator: docs/validators.md says how to move one"
    return "a place of the other program: ours keeps its files in its own directory" if name in PLACES else ""


PRESENT = {
    older: option.name for section in SECTIONS.values() for option in section.options for older in option.older_names
}


def _moved(endpoint: str, offset: int) -> str:
    host, colon, port = endpoint.rpartition(":")
    if not colon or not port.isdecimal():
        return ""
    moved = int(port) + offset
    return f"{host}:{moved}" if 0 < moved < 1 << 16 else ""


def accepted(lines: Sequence[TranslatedLine], chain: str) -> list[TranslatedLine]:
    """Without the lines that our program refuses, with its reason: they are read as the node will read them."""
    current = list(lines)
    with TemporaryDirectory() as place:
        trial = Path(place) / "config.ini"
        for _ in range(MOST_ROUNDS):
            text, places = _numbered(current, chain)
            trial.write_text(text, encoding="utf-8")
            try:
                read_configuration({"data-dir": [place], "config-file": [str(trial)]}, Path(place))
            except ConfigurationError as problem:
                refused = _refused(problem.problems, trial, places)
                if not refused:
                    raise
                for index, reason in refused.items():
                    current[index] = current[index]._replace(outcome=OptionOutcome.NOT_TAKEN, reason=reason, written="")
            else:
                return current
    raise AdoptionRefused("the faults of config.ini do not come to an end: shorten it in a copy of the directory")


def _refused(problems: Iterable[str], trial: Path, places: dict[int, int]) -> dict[int, str]:
    found = {}
    for text in problems:
        place, _, reason = text.removeprefix(f"{trial}:").partition(": ")
        if place.isdecimal() and int(place) in places:
            found[places[int(place)]] = without_keys(reason)
    return found


def _numbered(lines: Sequence[TranslatedLine], chain: str) -> tuple[str, dict[int, int]]:
    text = written(lines, chain, "")
    places, wanted = {}, [index for index, line in enumerate(lines) if line.written]
    wanted.sort(key=lambda index: bool(lines[index].section))
    for number, row in enumerate(text.split("\n"), start=1):
        if wanted and row == lines[wanted[0]].written:
            places[number] = wanted.pop(0)
    return text, places


def written(lines: Sequence[TranslatedLine], chain: str, source: str) -> str:
    head = [
        f"# The configuration of a ledgerd node, made by `ledgerd adopt` from {source}." if source else "#",
        "# Above each line stands what became of the line of that file, and why.",
        "",
        "# ours: the network",
        f"chain = {chain}",
        "",
    ]
    plain = [line for line in lines if not line.section]
    for line in plain:
        head += [_comment(line), *([line.written] if line.written else []), ""]
    section = ""
    for line in (line for line in lines if line.section):
        if line.section != section:
            section = line.section
            head += [f"[{section}]"]
        head += [_comment(line), line.written] if line.written else [_comment(line)]
    return "\n".join(head) + "\n"


def _comment(line: TranslatedLine) -> str:
    reason = f": {_quoted(line.reason, LONGEST_REASON)}" if line.reason else ""
    return f"# line {line.number}, {_quoted(line.name, LONGEST_NAME)}: {line.outcome.value}{reason}"


def _quoted(text: str, most: int) -> str:
    shown = printable(text.replace("\n", " ")[:most])
    return shown if len(text) <= most else f"{shown}..."


def summary(lines: Sequence[TranslatedLine]) -> Iterator[str]:
    same = sum(line.outcome is OptionOutcome.SAME for line in lines)
    yield f"{same} lines stay the same"
    others = [line for line in lines if line.outcome is not OptionOutcome.SAME]
    yield from (_comment(line).removeprefix("# ") for line in others[:MOST_SUMMED_UP])
    if len(others) > MOST_SUMMED_UP:
        yield f"and {len(others) - MOST_SUMMED_UP:,} more, which stand in our config.ini"
