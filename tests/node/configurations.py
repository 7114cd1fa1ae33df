"""What tests of the configuration share: reading one from a text."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgerd.node.config.configuration import Configuration, read_configuration
from ledgerd.node.config.given import ConfigurationError

COMMITTEE_WIF = "5Hw9YPABaFxa2LooiANLrhUK5TPryy8f7v9Y1rk923PuYqbYdfC"
COMMITTEE_KEY = "VIZ6Yt7d6LsngBoXQr47aLv97bJVs7jyr7esZTM4UUSpLUf3nbRKS"


def read(folder: Path, text: str, /, **command_line: tuple[str, ...]) -> Configuration:
    """The configuration of a file and a command line, on which `_` stands for `-`."""
    (folder / "node_data_dir").mkdir(exist_ok=True)
    (folder / "node_data_dir" / "config.ini").write_text(text, encoding="utf-8")
    options = {name.replace("_", "-"): values for name, values in command_line.items()}
    return read_configuration(options, folder)


def problems(folder: Path, text: str, /, **command_line: tuple[str, ...]) -> list[str]:
    """What is wrong with it, the file being called FILE."""
    with pytest.raises(ConfigurationError) as error:
        read(folder, text, **command_line)
    file = str(folder / "node_data_dir" / "config.ini")
    return [problem.replace(file, "FILE") for problem in error.value.problems]
