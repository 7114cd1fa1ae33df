"""Fields that keys are made of are assigned inside `editing`, which moves the entries: `remember` would not notice."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.tables.key_fields import fields_of
from tests.house.source_tree import ROOT

OF_NO_KEY = {
    ("update_globals", "time"),
    ("use_bandwidth", "last_bandwidth_update"),
}
"""A field of the global properties, which have no index; and one of a key that stays the same there."""


def key_fields() -> set[str]:
    """Of any table: a name that is a field of several counts for all."""
    found = {"id"}
    for table in STORED_TABLES:
        for index in table.indexes:
            fields = fields_of(index.key, table.record)
            assert fields is not None, f"what {index.title} is made of cannot be told"
            found |= fields
    return found


def object_of(call: ast.expr, verb: str) -> str | None:
    """What `ledger.VERB` is called with."""
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == verb and call.args:
        return ast.unparse(call.args[0])
    return None


def assigned(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Each attribute that is assigned outside of `editing`: of which object, and its name."""
    if isinstance(node, ast.With) and any(object_of(item.context_expr, "editing") for item in node.items):
        return
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        yield ast.unparse(node.value), node.attr
    for child in ast.iter_child_nodes(node):
        yield from assigned(child)


def unnoticed(source: str) -> set[tuple[str, str]]:
    """Functions that remember an object, and a field of a key that they assign to it."""
    keys, found = key_fields(), set()
    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, ast.FunctionDef):
            continue
        remembered = {object_of(node, "remember") for node in ast.walk(function) if isinstance(node, ast.Call)}
        found |= {
            (function.name, field) for owner, field in assigned(function) if owner in remembered and field in keys
        }
    return found


def test_no_field_of_a_key_is_assigned_to_an_object_that_is_only_remembered() -> None:
    found: set[tuple[str, str]] = set()
    for path in (ROOT / "src/ledgerd/chain").rglob("*.py"):
        found |= unnoticed(path.read_text())
    assert found == OF_NO_KEY


def test_such_an_assignment_would_be_found() -> None:
    source = "def sell(ledger, account):\n    ledger.remember(account)\n    account.account_on_sale = True\n"
    assert unnoticed(source) == {("sell", "account_on_sale")}
    edited = "def sell(ledger, account):\n    with ledger.editing(account):\n        account.account_on_sale = True\n"
    assert unnoticed(edited) == set()
