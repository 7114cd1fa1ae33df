"""The configuration that a node begins with: a template, with the answers of whoever sets it up (`ledgerd init`)."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ledgerd.basics.durable import put_in_place, sync
from ledgerd.node.config.configuration import Configuration, read_configuration
from ledgerd.node.config.templates import FULL, TESTNET, WITNESS, Template
from ledgerd.protocol.errors import OperatorError

MAINNET, OWN_NETWORK = "mainnet", "testnet"


class NodeKind(NamedTuple):
    """The purpose of a node."""

    about: str
    template: Template
    advice: str = ""
    """More advice for the file."""


KINDS: dict[str, NodeKind] = {
    "full": NodeKind("follows the network, and answers JSON-RPC to everybody", FULL),
    "validator": NodeKind(
        "makes blocks, and answers JSON-RPC on this machine alone",
        WITNESS,
        " It makes none before a validator and its key are named: look for `# validator` and `# private-key`.",
    ),
    OWN_NETWORK: NodeKind("a network of its own, to develop on, with keys that everybody knows", TESTNET),
}


class FirstAnswers(NamedTuple):
    """The answers on a node that is set up."""

    kind: str
    chain: str
    data_dir: Path
    seeds: Sequence[str] = ()
    snapshot_peers: Sequence[str] = ()


def first_text(answers: FirstAnswers) -> str:
    """The whole file; what the template says of the main network is left out on another."""
    kind = KINDS[answers.kind]
    settings = {**kind.template.settings, "chain": (answers.chain,)}
    if "snapshot-dir" in settings:
        settings["snapshot-dir"] = (str(answers.data_dir / "snapshots"),)
    if answers.chain != MAINNET:
        for name in (
            "p2p-seed-node",
            "trusted-snapshot-peer",
            "sync-snapshot-from-trusted-peer",
            "history-start-block",
        ):
            settings.pop(name, None)
    if answers.seeds:
        settings["p2p-seed-node"] = tuple(answers.seeds)
    if answers.snapshot_peers:
        settings["trusted-snapshot-peer"] = tuple(answers.snapshot_peers)
        settings["sync-snapshot-from-trusted-peer"] = ("true",)
    heading = f"Written by `ledgerd init`. This node {_described(answers.kind)}, on {answers.chain}.{kind.advice}"
    return kind.template._replace(heading=heading, settings=settings).text()


def _described(kind: str) -> str:
    return f"is {KINDS[kind].about}" if kind == OWN_NETWORK else KINDS[kind].about


def write_first_file(answers: FirstAnswers, file: Path, *, replaces: bool) -> Configuration:
    """Write the file if the node understands it, and return what it understands; another file is left as it was."""
    file = file.resolve()  # a link in the data directory stays
    if file.exists() and not replaces:
        raise OperatorError(
            f"{file} exists: --overwrite replaces it, and keeps it as {file.name}.old; "
            f"`ledgerd --data-dir {answers.data_dir} --check-config` shows what it says"
        )
    fresh = file.with_name(f"{file.name}.new")
    try:
        for folder in (answers.data_dir, file.parent):
            folder.mkdir(parents=True, exist_ok=True)
        _write_as(fresh, first_text(answers), file if file.exists() else file.parent)
        given = {"data-dir": [str(answers.data_dir)], "config-file": [str(fresh)]}
        try:
            configuration = read_configuration(given, Path.cwd())
        except OperatorError:
            fresh.unlink()
            raise
        if file.exists():
            file.replace(file.with_name(f"{file.name}.old"))
        put_in_place(fresh, file)
    except OSError as problem:
        raise OperatorError(
            f"{problem.filename or file}: cannot be written: {problem.strerror}: name another --data-dir, or run this "
            "as the user of the node"
        ) from problem
    return configuration


def _write_as(file: Path, text: str, like: Path) -> None:
    """The file may get keys: it is readable by its owner alone, or by whom its predecessor was. Root gives it to the
    owner of what was there, since a service that is another user has to read it.
    """
    known = like.stat()
    mode = stat.S_IMODE(known.st_mode) if like.is_file() else 0o600
    file.unlink(missing_ok=True)
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "w", encoding="utf-8") as opened:  # noqa: PTH123 - by its descriptor, for its mode
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            os.chown(file, known.st_uid, known.st_gid)
        opened.write(text)
        sync(opened)
    file.chmod(mode)
