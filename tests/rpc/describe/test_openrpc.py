"""The OpenRPC document: it is one, its types are those of the recorded answers, and its examples can be asked."""

from __future__ import annotations

import json
import lzma
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from ledgerd.codec import kind_of
from ledgerd.codec.json.text import dumps
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.rpc.api import APIS
from ledgerd.rpc.api.history.history_api import HISTORY_API
from ledgerd.rpc.api.history.operation_history import ACCOUNT_HISTORY, OPERATION_HISTORY
from ledgerd.rpc.api.history.state_api import STATE_API
from ledgerd.rpc.api.node.dev_api import DEV_API
from ledgerd.rpc.api.node.node_api import NODE_API
from ledgerd.rpc.call.declarations import Method
from ledgerd.rpc.describe.openrpc import document_of, examples_of
from ledgerd.rpc.describe.schemas import Schemas
from scripts.generate_openrpc_examples import EXAMPLES, examples
from tests.additions import answer_with_additions
from tests.recorded import FOLDER
from tests.rpc.json_schema import Checker
from tests.rpc.test_api_docs import WITHOUT_ANSWER

EVERY_API = (*APIS, ACCOUNT_HISTORY, OPERATION_HISTORY, HISTORY_API, STATE_API, NODE_API, DEV_API)
OURS_ALONE = {"dev_api", "history_api", "node_api", "state_api"}
"""APIs that no reference node has, and so none was recorded with."""
META_SCHEMA = Path(__file__).parent / "meta_schema" / "openrpc.json"
FILES = ("open-1/api-200", "open-1/answers-2718", "open-2/api-617", "open-2/account-histories-617", "open-main/api-900")
AT_MOST = 12
"""Answers looked at for each method and each file."""

DOCUMENT: dict[str, Any] = json.loads(dumps(document_of(EVERY_API)))
METHODS = {method["name"]: method for method in DOCUMENT["methods"]}


def test_the_document_keeps_to_the_meta_schema() -> None:
    meta = json.loads(META_SCHEMA.read_text(encoding="utf-8"))

    assert list(Checker(meta).faults(meta, DOCUMENT)) == []


def test_a_document_without_parameters_does_not_keep_to_it() -> None:
    meta = json.loads(META_SCHEMA.read_text(encoding="utf-8"))
    wrong = DOCUMENT | {"methods": [{"name": "database_api.get_config"}]}

    assert list(Checker(meta).faults(meta, wrong)) != []


def test_every_method_stands_in_it_once() -> None:
    declared = [f"{api.name}.{method.name}" for api in EVERY_API for method in api]

    assert [method["name"] for method in DOCUMENT["methods"]] == declared
    assert len(METHODS) == len(declared)
    assert all(method["summary"] for method in DOCUMENT["methods"])


@pytest.mark.parametrize("name", FILES)
def test_recorded_answers_have_the_types_that_it_says(name: str) -> None:
    checker, seen = Checker(DOCUMENT), defaultdict[str, int](int)
    for line in lzma.decompress((FOLDER / f"{name}.jsonl.xz").read_bytes()).decode(errors="replace").splitlines():
        fact = json.loads(line)
        api, method, arguments = fact["request"]["params"]
        called = f"{api}.{method}"
        answer = json.loads(answer_with_additions(method, fact["answer"]))
        if "result" not in answer or seen[called] >= AT_MOST:
            continue
        seen[called] += bool(answer["result"])
        assert list(checker.faults(METHODS[called]["result"]["schema"], answer["result"], called)) == []
        for parameter, value in zip(METHODS[called]["params"], arguments, strict=False):
            if value != -1:  # unsigned, and yet what everybody writes for the newest entry
                assert list(checker.faults(parameter["schema"], value, f"{called}({parameter['name']})")) == []
    assert seen


@pytest.mark.parametrize(
    "method",
    [each for api in EVERY_API for each in api if METHODS[f"{api.name}.{each.name}"].get("examples")],
    ids=lambda each: f"{each.api}.{each.name}",
)
def test_every_example_can_be_asked(method: Method) -> None:
    for given in method.examples:
        method.arguments(list(given))
    for example in METHODS[f"{method.api}.{method.name}"]["examples"]:
        method.arguments([each["value"] for each in example["params"]])


def test_every_method_has_an_example_unless_its_parameters_cannot_be_made_up() -> None:
    made_up = {kind_of(Transaction), kind_of(Block)}
    without = {
        method.name
        for api in EVERY_API
        for method in api
        if not examples_of(method) and not made_up & {each.codec.kind for each in method.parameters}
    }

    assert without == {"set_block_applied_callback", "verify_account_authority", "revert"}


def test_every_method_that_was_recorded_has_an_example_with_its_result() -> None:
    without = {
        f"{api.name}.{method.name}"
        for api in EVERY_API
        for method in api
        if api.name not in OURS_ALONE
        and not any("result" in each for each in METHODS[f"{api.name}.{method.name}"].get("examples", ()))
        and not method.alias_of
    }

    too_long = {"database_api.lookup_account_names", "prediction_market_api.list_markets_by_event"}
    assert without - WITHOUT_ANSWER == too_long, "those answers are too long to read"


def test_the_recorded_examples_are_those_of_the_documents() -> None:
    assert EXAMPLES.read_text(encoding="utf-8") == examples(), "run `make docs`"


def test_older_names_say_which_name_is_of_today() -> None:
    older = METHODS["validator_api.get_witness_schedule"]

    assert older["deprecated"]
    assert "`get_validator_schedule`" in older["description"]
    assert "deprecated" not in METHODS["validator_api.get_validator_schedule"]


def test_a_word_that_python_keeps_for_itself_has_its_own_name() -> None:
    names = [each["name"] for each in METHODS["account_history.get_account_history"]["params"]]

    assert names == ["account", "from", "limit"]


def test_two_records_of_one_name_are_refused() -> None:
    schemas = Schemas()
    schemas.of(kind_of(Transaction))
    other = type("Transaction", (Block,), {})

    with pytest.raises(ValueError, match="two records are called Transaction"):
        schemas.of(kind_of(other))
