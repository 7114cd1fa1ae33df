"""Configuration files as text, in which every option is explained: the default file, and those of `templates`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from textwrap import wrap

from ledgerd.node.config.options import SECTIONS
from ledgerd.node.config.options.declaration import Option

WIDTH = 100

DEFAULT_HEADING = (
    "The configuration of a ledgerd node, written because there was none, with the default of every option. A "
    "node of these defaults listens nowhere and knows no peers. Better beginnings: ledgerd --print-template "
    "config.ini, config_witness.ini or config_testnet.ini."
)

LOGGING = """\
[log.console_appender.stderr]
stream = std_error

[log.file_appender.p2p]
filename = logs/p2p/p2p.log

[logger.default]
level = info
appenders = stderr

[logger.p2p]
level = error
appenders = stderr
"""

LOGGING_EXPLAINED = (
    "An appender is a place for messages: log.console_appender (text), log.json_console_appender (a JSON object a "
    "line), both with stream = std_error or std_out, and log.file_appender, with a filename relative to this file: "
    "a new file every hour, kept for a day. A logger sends messages of its level or above (all, debug, info, warn, "
    "error, off) to its appenders. The node logs to the logger default; logger p2p stands here for the reference's "
    "sake, and receives nothing. From the first section on, no other option can follow."
)


def file_options() -> Iterator[Option]:
    for section in SECTIONS.values():
        yield from (option for option in section.with_meaning if not option.command_line_only)


def comment(text: str) -> Iterator[str]:
    yield from (f"# {line}" for line in wrap(text, WIDTH - 2, break_on_hyphens=False, break_long_words=False))


def _explanation(option: Option) -> str:
    parts = [option.help]
    if option.repeatable:
        parts.append("The line may be repeated.")
    if any(option.defaults):
        parts.append(f"Default: {', '.join(option.defaults)}.")
    return " ".join(parts)


def render(heading: str, settings: Mapping[str, Sequence[str]], notes: Mapping[str, str]) -> str:
    lines = [*comment(heading), ""]
    for section in SECTIONS.values():
        options = [option for option in section.with_meaning if not option.command_line_only]
        if not options:
            continue
        lines += ["#", *comment(f"{section.title}: {section.about}"), "#", ""]
        for option in options:
            lines += comment(_explanation(option))
            if option.name in notes:
                lines += comment(notes[option.name])
            lines += [*_written(option, settings.get(option.name)), ""]
    lines += ["#", *comment(f"logging: {LOGGING_EXPLAINED}"), "#", "", LOGGING]
    return "\n".join(lines)


def _written(option: Option, values: Iterable[str] | None) -> list[str]:
    if values is None:
        return [f"# {option.name} = {option.shown}"]
    return [f"{option.name} = {value}" for value in values]


def default_file() -> str:
    """The file that is written where there is none (spec 06, section 4.6)."""
    settings = {option.name: option.defaults for option in file_options() if any(option.defaults)}
    return render(DEFAULT_HEADING, settings, {})
