"""`ledgerd init`: asks what a new node is for, writes its configuration, and says whether it can start, and how."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

from ledgerd.cli.directory import doctor
from ledgerd.cli.shared.started import unit_of
from ledgerd.cli.shared.terminal import report
from ledgerd.node.config.first_file import KINDS, MAINNET, OWN_NETWORK, FirstAnswers, write_first_file
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.networks.chain_file import parameters_of

WRITTEN, FAULTY = 0, 1
MOST_TRIES = 5
EXPECTED = ("state-missing", "not-shown-reachable")
"""Findings that the doctor has for every node that has never run."""
SYSTEM_PLACE = Path("/var/lib/ledgerd")


def run(chosen: argparse.Namespace) -> int:
    answers = answered(chosen)
    file: Path = (chosen.config_file or answers.data_dir / "config.ini").absolute()
    configuration = write_first_file(answers, file, replaces=chosen.overwrite)
    report(f"{file} is written: a node of the kind {answers.kind}, on {answers.chain}.")
    is_alone = answers.kind != OWN_NETWORK and not configuration.p2p.seeds
    if is_alone:
        report(
            "It knows no peers yet: name some with p2p-seed-node, and whom you trust with a first state with "
            "trusted-snapshot-peer."
        )
    report("The doctor looks at the machine, the peers and the files:")
    code = doctor.run(
        argparse.Namespace(
            data_dir=answers.data_dir, config_file=chosen.config_file, chain=None, options=[], json=False
        ),
        EXPECTED,
    )
    if code == doctor.SOUND:
        report("nothing is wrong.")
    is_faulty = code in (doctor.ERRORS, doctor.WRONG_CONFIGURATION)
    first = "see to what is wrong above, then " if is_faulty else "add peers, then " if is_alone else ""
    report(f"Next: {first}{_start_of(answers.data_dir, chosen.config_file)}")
    if answers.kind == "validator":
        report(
            "When it is in step with the network, name your validator and its key: docs/validators.md has the steps."
        )
    return FAULTY if is_faulty else WRITTEN


def _start_of(data_dir: Path, config_file: Path | None) -> str:
    unit = unit_of(data_dir)
    if unit is not None and config_file is None:
        return f"systemctl enable --now {unit.path.stem}"
    words = ["ledgerd", "--data-dir", str(data_dir)]
    if config_file is not None:
        words += ["--config-file", str(config_file.absolute())]
    return shlex.join(words)


def answered(chosen: argparse.Namespace) -> FirstAnswers:
    """The three answers, from the options or else from whoever sits there."""
    kind = chosen.kind or _ask(_kind_question(), "full", _kind_in, "--kind")
    if kind == OWN_NETWORK:  # it makes its own blocks, with the published keys
        chain = chosen.chain or OWN_NETWORK
        if chain == MAINNET:
            raise OperatorError(
                f"--kind {OWN_NETWORK} is a network of its own: leave --chain out, or choose --kind full"
            )
    else:
        question = "Which network: mainnet, testnet, or the TOML file of a private one?"
        chain = chosen.chain or _ask(question, MAINNET, _chain_in, "--chain")
    where = chosen.data_dir or _ask("Where is its data kept?", str(_usual_place()), str, "--data-dir")
    data_dir = Path(where).expanduser().absolute()
    return FirstAnswers(kind, _chain_in(chain), data_dir, chosen.seed, chosen.snapshot_peer)


def _ask(question: str, usual: str, read: Callable[[str], str], option: str) -> str:
    if not sys.stdin.isatty():
        raise OperatorError(f"nobody is there to answer: give {option}")
    for _ in range(MOST_TRIES):
        try:
            text = input(f"{question}\n[{usual}] ").strip()
        except EOFError:
            break
        try:
            return read(text or usual)
        except OperatorError as problem:
            report(str(problem))
    raise OperatorError(f"no answer: give {option}")


def _kind_question() -> str:
    lines = [f"  {number}  {name}: {kind.about}" for number, (name, kind) in enumerate(KINDS.items(), start=1)]
    return "\n".join(["What is the node for?", *lines])


def _kind_in(text: str) -> str:
    names = [*KINDS]
    if text.isascii() and text.isdecimal() and 0 < int(text) <= len(names):
        return names[int(text) - 1]
    if text not in names:
        raise OperatorError(f"{text}: there is no such kind: {' or '.join(names)}, or its number")
    return text


def _chain_in(text: str) -> str:
    parameters_of(text)  # it can be read
    return str(Path(text).absolute()) if Path(text).is_file() else text


def _usual_place() -> Path:
    """The data directory of the package and of the systemd units, if this user may write there."""
    if os.access(SYSTEM_PLACE if SYSTEM_PLACE.exists() else SYSTEM_PLACE.parent, os.W_OK):
        return SYSTEM_PLACE
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "ledgerd"
