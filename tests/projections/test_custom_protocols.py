"""How often accounts use the protocols of custom operations, and which are forgotten (spec 05, section 18)."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.projections.custom_protocols import CustomProtocols
from ledgerd.projections.tables.custom_protocols import PROTOCOL_BY_LAST_BLOCK
from ledgerd.protocol.operations.accounts.custom import Custom
from ledgerd.protocol.types.names import AccountName
from tests.chain.ledgers import ALICE, BOB, HEAD, carry_out, change, create_account, fresh_ledger, kept_beside, project


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """Alice and Bob, of whom two protocols each are kept."""
    ledger = fresh_ledger(tmp_path)
    create_account(ledger, "alice")
    create_account(ledger, "bob")
    return ledger


def use(
    ledger: Ledger, protocol: str, *, active: tuple[AccountName, ...] = (), regular: tuple[AccountName, ...]
) -> None:
    change(ledger, ledger.globals, head_block_number=ledger.head_number + 1)
    carry_out(ledger, Custom(required_active_auths=active, required_regular_auths=regular, id=protocol, json="{}"))
    project(ledger, CustomProtocols(2))


def counts(ledger: Ledger, account: AccountName) -> list[tuple[str, int, int]]:
    """The protocols of an account, the last used first: name, count, and the block after the first head."""
    rows = kept_beside(ledger).scan(PROTOCOL_BY_LAST_BLOCK, lower=(account,), upper=(account,))
    return [(row.custom_protocol_id, row.custom_sequence, row.custom_sequence_block_num - HEAD) for row in rows]


def test_each_use_is_counted_with_its_block(ledger: Ledger) -> None:
    use(ledger, "V", regular=(ALICE,))
    use(ledger, "V", regular=(ALICE,))
    assert counts(ledger, ALICE) == [("V", 2, 2)]


def test_all_who_vouch_are_counted(ledger: Ledger) -> None:
    use(ledger, "V", active=(ALICE,), regular=(ALICE, BOB))
    assert counts(ledger, ALICE) == [("V", 2, 1)]
    assert counts(ledger, BOB) == [("V", 1, 1)]


def test_a_new_protocol_takes_the_place_of_the_one_used_longest_ago(ledger: Ledger) -> None:
    for protocol in ("A", "B", "C"):
        use(ledger, protocol, regular=(ALICE,))
    assert counts(ledger, ALICE) == [("C", 1, 3), ("B", 1, 2)]


def test_a_protocol_that_is_used_again_is_found_before_anything_is_forgotten(ledger: Ledger) -> None:
    for protocol in ("A", "B", "A"):
        use(ledger, protocol, regular=(ALICE,))
    assert counts(ledger, ALICE) == [("A", 2, 3), ("B", 1, 2)]


def test_ids_are_cut_to_the_length_of_a_name(ledger: Ledger) -> None:
    use(ledger, "x" * 40, regular=(ALICE,))
    use(ledger, "x" * 35, regular=(ALICE,))
    assert counts(ledger, ALICE) == [("x" * 32, 2, 2)]


def test_what_is_undone_was_never_counted(ledger: Ledger) -> None:
    with kept_beside(ledger).begin():
        use(ledger, "V", regular=(ALICE,))
    assert counts(ledger, ALICE) == []
