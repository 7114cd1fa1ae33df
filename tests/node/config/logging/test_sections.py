from __future__ import annotations

from pathlib import Path

import pytest

from ledgerd.node.config.logging.sections import Appender, Logger, Logging
from tests.node.configurations import problems, read

SECTIONS = """
[log.console_appender.stderr]
stream = std_error

[log.json_console_appender.out]
stream = std_out

[log.file_appender.p2p]
filename = logs/p2p/p2p.log

[logger.default]
level = debug
appenders = stderr, out

[logger.ledgerd.p2p]
level = off
appenders =
"""


def test_sections_declare_appenders_and_loggers(tmp_path: Path) -> None:
    folder = tmp_path / "node_data_dir"

    assert read(tmp_path, SECTIONS).logging == Logging(
        (
            Appender("stderr", "console", "std_error"),
            Appender("out", "json_console", "std_out"),
            Appender("p2p", "file", folder / "logs" / "p2p" / "p2p.log"),
        ),
        (Logger("default", "debug", ("stderr", "out")), Logger("ledgerd.p2p", "off", ())),
    )


def test_the_file_of_an_appender_may_be_absolute(tmp_path: Path) -> None:
    logging = read(tmp_path, "[log.file_appender.f]\nfilename = /var/log/x.log").logging

    assert logging is not None
    assert logging.appenders[0].target == Path("/var/log/x.log")


def test_without_sections_there_is_nothing_to_set_up(tmp_path: Path) -> None:
    assert read(tmp_path, "chain = testnet").logging is None


def test_keys_that_the_reference_knows_by_name_stand_once(tmp_path: Path) -> None:
    text = "[logger.default]\nlevel = info\nlevel = warn\nappenders ="

    assert problems(tmp_path, text) == [
        "FILE:3: option 'logger.default.level' cannot be specified more than once: keep one of them"
    ]


def test_of_other_keys_that_repeat_the_last_one_wins(tmp_path: Path) -> None:
    logging = read(tmp_path, "[logger.sync]\nlevel = info\nlevel = warn\nappenders =").logging

    assert logging is not None
    assert logging.loggers == (Logger("sync", "warn", ()),)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[logger.x]\nlevel = info", "FILE: section [logger.x] has no appenders: add `appenders = stderr`"),
        ("[logger.x]\nappenders =", "FILE: section [logger.x] has no level: add `level = info`"),
        (
            "[logger.x]\nlevel = loud\nappenders =",
            "FILE:2: level = loud: must be one of all, debug, info, warn, error, off",
        ),
        (
            "[log.console_appender.x]\nstream = stderr",
            "FILE:2: stream = stderr: must be one of std_out, std_error",
        ),
        (
            "[log.console_appender.x]\nsteam = std_error\nstream = std_error",
            "FILE:2: steam: no key of [log.console_appender.x]; the nearest one is stream",
        ),
        (
            "[log.file_appender.x]\nfilename =",
            "FILE:2: filename is empty: write `filename = logs/ledgerd.log`",
        ),
        (
            "[log.file_appender.x]\nfilename = a\0b",
            "FILE:2: filename holds a NUL character: write `filename = logs/ledgerd.log`",
        ),
        (
            "[log.syslog_appender.x]\nhost = a",
            (
                "FILE:2: there is no section [log.syslog_appender.x]; there are [log.console_appender.NAME], "
                "[log.json_console_appender.NAME], [log.file_appender.NAME] and [logger.NAME]"
            ),
        ),
        (
            "[log.console_appender.out]\nstream = std_out\n[logger.x]\nlevel = all\nappenders = out err",
            (
                "FILE:5: appenders = out err: no section declares err; there are out: add [log.console_appender.err] "
                "with stream = std_error"
            ),
        ),
    ],
)
def test_a_fault_in_a_section_stops_the_start(tmp_path: Path, text: str, problem: str) -> None:
    assert problems(tmp_path, text) == [problem]
