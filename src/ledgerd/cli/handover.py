"""`ledgerd adopt --validator NAME`: walks through the hand-over of a validator, and checks each step."""

from __future__ import annotations

import argparse
import time

from ledgerd.adopt.handover import Handover, HandoverPlan, words_of
from ledgerd.adopt.handover_facts import OtherNode, OurNode
from ledgerd.adopt.handover_walk import HandoverWalk
from ledgerd.cli.data_directory import configuration_of
from ledgerd.cli.terminal import say
from ledgerd.compare.node import ComparedNode
from ledgerd.compare.pace import Pace
from ledgerd.node.config.network import network_of
from ledgerd.protocol.errors import OperatorError, RuleViolation
from ledgerd.protocol.keys import public_key_from_text, public_key_text

HANDED_OVER = 0
NOT_YET = 3
INTERRUPTED = 130

REQUESTS_A_SECOND = 200.0


def run(chosen: argparse.Namespace) -> int:
    walk, plan = _walk(chosen)
    for line in words_of(plan):
        _say(line)
    try:
        is_done = walk.run(chosen.wait)
    except KeyboardInterrupt:
        _say("stopped here; the same command goes on")
        return INTERRUPTED
    if not is_done:
        _say(f"not done after {chosen.wait:.0f} s; the same command goes on")
    return HANDED_OVER if is_done else NOT_YET


def _walk(chosen: argparse.Namespace) -> tuple[HandoverWalk, HandoverPlan]:
    for folder in (chosen.data_dir, chosen.directory):
        if folder is not None and not folder.is_dir():
            raise OperatorError(f"{folder} is no directory")
    chosen.config_file = None
    configuration = configuration_of(chosen)
    if configuration.validator.is_signed_elsewhere:
        raise OperatorError("the keys of this node are in a signer: move them as docs/signer.md says")
    endpoint = configuration.webserver.http_endpoint
    if chosen.node is None and endpoint is None:
        raise OperatorError(
            "our node has no webserver-http-endpoint: name the address of one that follows it with --node"
        )
    url = chosen.node or f"http://{endpoint}".replace("//0.0.0.0:", "//127.0.0.1:")
    ours = OurNode(
        chosen.data_dir,
        network_of(configuration).chain_id,
        ComparedNode(url, Pace(REQUESTS_A_SECOND)),
        lambda: configuration_of(chosen).validator,
        time.time,
    )
    theirs = ComparedNode(chosen.vizd, Pace(REQUESTS_A_SECOND)) if chosen.vizd else None
    plan = HandoverPlan(
        chosen.validator,
        chosen.data_dir,
        _checked_key(chosen.key),
        chosen.back,
        chosen.vizd or "the vizd",
        chosen.clock_difference,
    )
    return HandoverWalk(Handover(plan), ours, OtherNode(theirs, chosen.directory), _say), plan


def _checked_key(text: str | None) -> str:
    if text is None:
        return ""
    try:
        return public_key_text(public_key_from_text(text))
    except RuleViolation:
        raise OperatorError("--key takes a public key: `ledgerd key FILE` prints that of a file") from None


def _say(text: str) -> None:
    say(f"{time.strftime('%H:%M:%S')} {text}")
