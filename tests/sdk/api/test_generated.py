"""The generated client is that of today's declarations: each file, each method, and the form of each answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ledgerd.codec import Codec, codec_of
from ledgerd.codec.kinds import Kind
from ledgerd.codec.types.containers import FixedArray, Optional, SortedMap, Vector
from ledgerd.codec.types.numbers import Signed, Unsigned, WideUnsigned
from ledgerd.codec.types.records import RecordKind
from ledgerd.codec.types.variants import Variant
from ledgerd.protocol.types.times import TimeKind
from ledgerd.protocol.types.versions import VersionKind
from ledgerd.rpc.api.shared.kinds import Printed
from ledgerd.rpc.call.declarations import AnyJson
from ledgerd.sdk.calling import decoded
from scripts.generate_api_docs import EVERY_API
from scripts.generate_sdk import UNREPEATABLE, generated, present
from tests.sdk.api.typed_results import typed_calls

METHODS = {method.full_name: method for api in EVERY_API for method in api}


def sample(kind: Kind, *, is_full: bool) -> Any:
    """A value of a type with something everywhere, or with as little as it may have."""
    if isinstance(kind, Printed):
        return Codec[Any](kind.of).to_json(sample(kind.of, is_full=is_full))
    if isinstance(kind, Optional):
        return sample(kind.inner, is_full=is_full) if is_full else None
    if isinstance(kind, FixedArray):
        return (sample(kind.element, is_full=is_full),) * kind.size
    if isinstance(kind, Vector):
        return (sample(kind.element, is_full=is_full),) if is_full else ()
    if isinstance(kind, SortedMap):
        return {sample(kind.key, is_full=is_full): sample(kind.value, is_full=is_full)}
    if isinstance(kind, Variant):
        return kind.default()
    if isinstance(kind, RecordKind) and not hasattr(kind.record, "json_default"):
        return kind.record(*[sample(each.kind, is_full=is_full) for each in kind.fields])
    if is_full and isinstance(kind, Unsigned | Signed) and not isinstance(kind, TimeKind | VersionKind):
        return 2 ** (8 * kind.memory - 1) - 1
    return 2**100 if is_full and isinstance(kind, WideUnsigned) else kind.default()


def test_the_files_are_those_of_the_declarations() -> None:
    assert present() == generated()


def test_each_method_is_one_of_a_class() -> None:
    assert typed_calls().keys() == METHODS.keys()


def test_each_method_sends_the_parameters_that_it_needs() -> None:
    needed = {name: sum(each.is_required for each in method.parameters) for name, method in METHODS.items()}

    assert {name: len(call.params) for name, call in typed_calls().items()} == needed


@pytest.mark.parametrize("is_full", [False, True])
@pytest.mark.parametrize("name", sorted(METHODS))
def test_the_answer_of_each_method_is_read_and_printed_as_the_node_prints_it(name: str, *, is_full: bool) -> None:
    method, result = METHODS[name], typed_calls()[name].result
    if isinstance(method.codec.kind, AnyJson) or result is dict:
        return
    text = method.codec.to_json(sample(method.codec.kind, is_full=is_full))

    assert json.loads(codec_of(result).to_json(decoded(json.loads(text), result))) == json.loads(text)


def test_former_names_answer_the_same() -> None:
    former = {name: method for name, method in METHODS.items() if method.alias_of}

    assert len(former) == 8
    for name, method in former.items():
        assert typed_calls()[name].result == typed_calls()[f"{method.api}.{method.alias_of}"].result


def test_there_are_apis_that_nobody_repeats() -> None:
    assert {each.api for each in METHODS.values()} > {*UNREPEATABLE}
