"""The process that computes ahead: what it answers is shown in `test_precompute_pool`; here, how it ends."""

from __future__ import annotations

import json
import socket
import subprocess

from ledgerd.basics.framing.frames import LENGTH, framed
from ledgerd.node.workers.precompute_pool import COMMAND
from ledgerd.node.workers.precompute_worker import MOST_BYTES, introduction
from ledgerd.protocol.networks.parameters import TESTNET
from tests.patience import PATIENCE


def end_of(form: str) -> str:
    """What it writes to standard error when a request breaks it."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(framed(introduction(TESTNET)) + LENGTH.pack(MOST_BYTES + 1))
        ended = subprocess.run(  # noqa: S603 - our own program
            (*COMMAND, form), stdin=theirs.fileno(), stderr=subprocess.PIPE, text=True, timeout=PATIENCE, check=False
        )
    assert ended.returncode == 1
    return ended.stderr


def test_the_error_that_ends_it_is_in_the_form_of_the_log() -> None:
    (line,) = end_of("json").splitlines()
    event = json.loads(line)

    assert (event["level"], event["room"]) == ("error", "node")
    assert event["exception"].endswith(
        f"FrameFault: a frame of {MOST_BYTES + 1} bytes, where {MOST_BYTES} are the most"
    )
    assert end_of("text").endswith(f"FrameFault: a frame of {MOST_BYTES + 1} bytes, where {MOST_BYTES} are the most\n")
