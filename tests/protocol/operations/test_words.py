"""Every operation has words in each language, which say what its fields hold."""

from __future__ import annotations

import re

import pytest

from ledgerd.codec import record_kind
from ledgerd.protocol.operations import OPERATIONS, Operation
from ledgerd.protocol.operations.base import name_of
from ledgerd.protocol.operations.roles import NO

PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")


@pytest.mark.parametrize("operation", OPERATIONS, ids=name_of)
def test_every_language_tells_an_operation_by_its_fields_and_in_the_same_cases(operation: type[Operation]) -> None:
    fields = record_kind(operation).fields
    properties = {name for name in dir(operation) if isinstance(getattr(operation, name), property)}
    assert [*operation.EN.cases] == [*operation.RU.cases]
    assert set(operation.EN.cases) <= properties | {f"{NO}{field.attribute}" for field in fields}
    for words in (operation.EN, operation.RU):
        assert words.title
        for sentence in (words.sentence, *words.cases.values()):
            assert set(PLACEHOLDER.findall(sentence)) <= properties | {field.name for field in fields}
