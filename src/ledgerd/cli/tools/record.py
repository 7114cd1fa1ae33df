"""`ledgerd record`: plays scenarios on a private network, and keeps what its node answers."""

from __future__ import annotations

import argparse
import sys
import time
from contextlib import closing
from pathlib import Path

from ledgerd.basics.durable import open_file
from ledgerd.cli.shared.terminal import report
from ledgerd.client.asked import AskedNode
from ledgerd.producer.testnet_start import PUBLISHED_INITIATOR_KEY
from ledgerd.protocol.crypto.keys import InvalidKey, PrivateKey
from ledgerd.protocol.errors import OperatorError
from ledgerd.recording.recording import Recording, chosen_acts, plan

LARGEST_KEY_FILE = 1_024


def run(chosen: argparse.Namespace) -> int:
    acts = chosen_acts(chosen.only)
    for line in plan(acts):
        report(line, out=sys.stdout)
    if chosen.plan:
        return 0
    with closing(AskedNode(chosen.url)) as node:
        recording = Recording(node, chosen.folder, (chosen.initiator, _key_of(chosen.key_file)))
        last = recording.run(acts, time.sleep, lambda line: report(line, out=sys.stdout))
    report(f"blocks 1 to {last:,} and what was answered of them are in {chosen.folder}", out=sys.stdout)
    return 0


def _key_of(file: Path | None) -> PrivateKey:
    if file is None:
        return PrivateKey.from_wif(PUBLISHED_INITIATOR_KEY)
    try:
        with open_file(file) as opened:
            text = opened.read(LARGEST_KEY_FILE).decode("ascii", "replace").strip()
    except OSError as problem:
        raise OperatorError(f"{file} cannot be read: {problem.strerror}") from None
    try:
        return PrivateKey.from_wif(text)
    except InvalidKey:
        raise OperatorError(f"{file} has no private key in WIF") from None
