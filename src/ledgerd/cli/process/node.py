"""`ledgerd` without a command: reads and checks the node's configuration, then starts the node."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ledgerd.cli.arguments.node_arguments import WRONG_CONFIGURATION, node_arguments
from ledgerd.node.config.configuration import Configuration, read_configuration, read_invocation, write_default_file
from ledgerd.node.config.given import PRIVATE_KEY, ConfigurationError
from ledgerd.protocol.errors import OperatorError
from ledgerd.supervision.this_process import lasting_modules


def version_text() -> str:
    from ledgerd.cli.process import version  # noqa: PLC0415 - for this alone

    return version.version_text()


def run(words: Sequence[str], commands: Sequence[str]) -> int:
    command_line = dict(vars(node_arguments(version_text, commands).parse_args(words)))
    here = Path.cwd()
    try:
        invocation = read_invocation(command_line, here)
        if invocation.print_template:
            from ledgerd.node.config.templates import TEMPLATES  # noqa: PLC0415 - for this alone

            sys.stdout.write(TEMPLATES[invocation.print_template].text())
        elif invocation.check_config:
            from ledgerd.node.config.network import network_of  # noqa: PLC0415 - for this alone

            configuration = read_configuration(command_line, here, os.environ)
            network_of(configuration)  # its network can be read
            sys.stdout.write("\n".join(understood(configuration)) + "\n")
        elif invocation.check_health:
            from ledgerd.cli.process.health import check_health  # noqa: PLC0415 - for this alone

            return check_health(read_configuration(command_line, here, os.environ).webserver)
        else:
            return _started(command_line, here)
    except OperatorError as error:
        problems = error.problems if isinstance(error, ConfigurationError) else (str(error),)
        sys.stderr.write("".join(f"ledgerd: {problem}\n" for problem in problems))
        return WRONG_CONFIGURATION
    return 0


def _started(command_line: Mapping[str, Sequence[str]], here: Path) -> int:
    invocation = read_invocation(command_line, here)
    configuration = read_configuration(command_line, here, os.environ)
    with lasting_modules():
        from ledgerd.node.lifecycle import run_node  # noqa: PLC0415 - it loads all of the node

    if write_default_file(invocation) is not None:
        configuration = read_configuration(command_line, here, os.environ)
    os.environ.pop(PRIVATE_KEY, None)  # the processes that the node starts have no use for it
    return run_node(configuration)


def understood(configuration: Configuration) -> Iterator[str]:
    """A configuration as text: the value of each option and where it was given. Keys are never shown."""
    exists = configuration.file.exists()
    yield f"configuration file: {configuration.file}{'' if exists else ' (missing: every option has its default)'}"
    yield f"data directory:     {configuration.invocation.data_dir}"
    yield f"plugins that run:   {' '.join((*configuration.application.plugins, *configuration.application.installed))}"
    section = ""
    for setting in configuration.settings:
        if setting.option.command_line_only and not setting.where:
            continue
        if setting.section != section:
            section = setting.section
            yield f"\n{section}"
        places = ", ".join(dict.fromkeys(setting.where))
        origin = places.replace(str(configuration.file), configuration.file.name) or "default"
        yield f"  {setting.option.name} = {' '.join(setting.shown) or '(none)'}    [{origin}]"
    yield ""
    if configuration.logging is not None:
        for logger in configuration.logging.loggers:
            yield f"logger {logger.name}: {logger.level} and above to {', '.join(logger.appenders) or 'nowhere'}"
    for remark in configuration.remarks:
        yield f"note: {remark}"
    if configuration.without_meaning:
        yield f"note: without meaning to this node: {', '.join(configuration.without_meaning)}"
    yield "The configuration is sound."
