"""Recorded answers of the reference are read into the types of the client, and printed again as they were.

A usual run reads of each file the first answers of each method, and every fifth of the others;
`EVERY_ANSWER=1 scripts/test tests/sdk/api/test_recorded_answers.py` reads all.
"""

from __future__ import annotations

import json
import lzma
import os
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from ledgerd.codec import codec_of
from ledgerd.rpc.describe.openrpc import recorded_examples
from ledgerd.sdk.calling import decoded
from tests.recorded import FOLDER
from tests.sdk.api.typed_results import typed_calls

FILES = sorted(
    path.relative_to(FOLDER).as_posix()
    for path in FOLDER.glob("*/*.jsonl.xz")
    if path.name.startswith(("account-histories-", "answers-", "api-", "errors-"))
)

FIRST, STEP = 20, 1 if "EVERY_ANSWER" in os.environ else 5
"""Answers of a method in a file that every run reads, and the step through those after them."""

UNRECORDED = {
    "database_api.get_database_info",
    "database_api.get_irreversible_block_header",
    "database_api.set_block_applied_callback",
    "database_api.verify_account_authority",
    "dev_api.forget_pending",
    "dev_api.head",
    "dev_api.mine_blocks",
    "dev_api.move_time",
    "dev_api.revert",
    "dev_api.snapshot",
    "history_api.get_account_operations",
    "history_api.get_block_operations",
    "history_api.get_blocks",
    "history_api.get_operations",
    "history_api.get_transaction",
    "history_api.subscribe",
    "history_api.subscribe_market",
    "history_api.unsubscribe",
    "invite_api.get_invite_by_key",
    "network_broadcast_api.broadcast_block",
    "network_broadcast_api.broadcast_transaction_synchronous",
    "network_broadcast_api.broadcast_transaction_with_callback",
    "node_api.follow_status",
    "node_api.network",
    "node_api.simulate_transaction",
    "operation_history.get_transaction",
    "paid_subscription_api.get_paid_subscription_status",
    "state_api.get_accounts_at",
    "state_api.get_balances_at",
}
"""Methods of which there is no recorded answer: those that the reference does not have, and some that it was not asked
for. To this list nothing is added: `test_generated` holds the forms of their answers to the node's own.
"""


def answers_of(file: str) -> Iterator[tuple[str, Any]]:
    """The methods that were called and their results; errors, and odd requests, are not among them."""
    counts = Counter[str]()
    for line in lzma.decompress((FOLDER / file).read_bytes()).splitlines():
        fact = json.loads(line.decode("utf-8", "surrogateescape"))
        if '"result":' not in fact["answer"]:
            continue
        request = fact["request"] if "request" in fact else json.loads(fact["body"])
        match request:
            case {"params": [api, method, *_]}:
                counts[f"{api}.{method}"] += 1
                if counts[f"{api}.{method}"] <= FIRST or counts[f"{api}.{method}"] % STEP == 0:
                    yield f"{api}.{method}", json.loads(fact["answer"])["result"]


def kept(method: str, result: Any) -> Any:
    """A result, read and printed again."""
    form = typed_calls()[method].result
    value = decoded(result, form)
    return value if form in {object, dict} else json.loads(codec_of(form).to_json(value))


@cache
def outcome_of(file: str) -> tuple[frozenset[str], list[tuple[str, str]]]:
    """The methods with an answer in a file, and the answers that did not stay as they were. Each is looked at once."""
    methods, seen, changed = set[str](), set[tuple[str, str]](), []
    for method, result in answers_of(file):
        methods.add(method)
        answer = (method, json.dumps(result))
        if answer not in seen and json.dumps(kept(method, result)) != answer[1]:
            changed.append(answer)
        seen.add(answer)
    return frozenset(methods), changed


@pytest.mark.parametrize("file", FILES)
def test_recorded_answers_stay_as_they_are(file: str) -> None:
    _, changed = outcome_of(file)

    assert changed == []


@pytest.mark.parametrize("method", sorted(recorded_examples()))
def test_shown_answers_stay_as_they_are(method: str) -> None:
    result = json.loads(bytes(recorded_examples()[method].result))

    assert json.dumps(kept(method, result)) == json.dumps(result)


def test_every_method_has_a_recorded_answer_or_is_known_to_have_none() -> None:
    recorded = frozenset().union(*(outcome_of(file)[0] for file in FILES)) | recorded_examples().keys()
    former = {method for method in typed_calls() if "witness" in method}

    assert typed_calls().keys() - recorded - former == UNRECORDED
