"""What is read of records in part, compared with the records themselves, after a field of each has another place in its
declaration: run as a process of its own, which prints what it has compared.
"""

from __future__ import annotations

import json
import sys
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType
from typing import Any

OBJECTS, PROJECTED = "ledgerd.state.objects", "ledgerd.projections.tables"
MOVES = {
    "accounts": {"Account": ("name", "energy"), "AccountAuthority": ("account", "regular")},
    "bets": {"PmBet": ("status", "id")},
    "disputes": {"PmDispute": ("market", "reason")},
    "market_records": {"PmMarketMeta": ("market", "tags")},
    "markets": {"PmMarket": ("bets_sum", "id")},
    "validators": {"ValidatorVote": ("validator", "vote_created_block")},
}
"""By module and record: the field that moves, and the one behind which it stands then."""


def moved(source: str, moves: dict[str, tuple[str, str]]) -> str:
    """The source of a module in which some fields stand elsewhere."""
    lines = source.splitlines()
    for record, (field, behind) in moves.items():
        begin = next(number for number, line in enumerate(lines) if line.startswith(f"class {record}(Entity)"))
        line = lines.pop(next(each for each in range(begin, len(lines)) if lines[each].startswith(f"    {field}: ")))
        place = begin + 2  # behind the docstring, as the id comes first
        if behind != "id":
            place = next(each for each in range(begin, len(lines)) if lines[each].startswith(f"    {behind}: "))
        lines.insert(place + 1, line)
    return "\n".join(lines)


class Mover(PathFinder):
    """Finds the modules of the objects, and gives them with moved fields."""

    @classmethod
    def find_spec(cls, fullname: str, *args: Any) -> ModuleSpec | None:
        """Only what is to be moved."""
        package, _, module = fullname.rpartition(".")
        is_known = package.startswith((OBJECTS, PROJECTED)) and module in MOVES
        spec = super().find_spec(fullname, *args) if is_known else None
        if spec is None or spec.origin is None:
            return None
        if not spec.origin.endswith("__init__.py"):
            spec.loader = MovedSource(fullname, spec.origin)
        return spec


class MovedSource(SourceFileLoader):
    """Compiles the changed source, and keeps nothing of it."""

    def get_code(self, fullname: str) -> CodeType:
        """Of the text with moved fields."""
        source = moved(Path(self.path).read_text(encoding="utf-8"), MOVES[fullname.rpartition(".")[2]])
        return compile(source, self.path, "exec")


sys.meta_path.insert(0, Mover)

from ledgerd.codec import codec_of  # noqa: E402
from ledgerd.projections.accounts.images import images_in  # noqa: E402 - after the moves
from ledgerd.projections.tables import market_records  # noqa: E402
from ledgerd.protocol.crypto.keys import PublicKey  # noqa: E402
from ledgerd.protocol.types.authority import authority_of  # noqa: E402
from ledgerd.protocol.types.names import AccountName  # noqa: E402
from ledgerd.rpc.api.prediction_market.shared.cards import metadata_text  # noqa: E402
from ledgerd.rpc.api.prediction_market.shared.metadata_filter import MetadataFilter  # noqa: E402
from ledgerd.rpc.api.shared.account_record import account_text  # noqa: E402
from ledgerd.state import Store  # noqa: E402
from ledgerd.state.objects import STORED_TABLES, validators  # noqa: E402
from ledgerd.state.objects.accounts import accounts  # noqa: E402
from ledgerd.state.objects.markets import bets, disputes, markets  # noqa: E402
from tests.chain.networks import SMALL  # noqa: E402

ALICE = AccountName("alice")


def packed(record: Any) -> bytes:
    """Its bytes."""
    return codec_of(type(record)).encode(record)


def lists_agree() -> None:
    """What lists read of markets and what belongs to them."""
    market = markets.PmMarket(id=3, oracle=AccountName("carol"), url="u" * 300, status=2, bets_sum=-9)
    market.betting_expiration, market.payout_status = 77, 4
    assert markets.market_sums(packed(market)) == (2, 4, 77, -9)
    assert markets.market_oracle(packed(market)) == b"carol"
    bet = bets.PmBet(id=1, account=ALICE, side=1, outcome_index=2, amount=3, weight=4, status=5)
    assert bets.bet_weight(packed(bet)) == (1, 2, 3, 4, 5)
    dispute = disputes.PmDispute(id=8, market=9, disputer=ALICE, reason="r" * 200)
    assert disputes.dispute_numbers(packed(dispute)) == (8, 9)
    assert validators.voted_validator(packed(validators.ValidatorVote(id=1, validator=2, account=3))) == 2
    meta = market_records.PmMarketMeta(id=5, market=6, category="sport", tags="a,b", title="T", child=True)
    assert market_records.meta_market(packed(meta)) == 6
    assert [*map(list, market_records.meta_numbers([packed(meta)] * 2))] == [[5, 5], [6, 6]]
    for hides, is_found in ((True, False), (False, True)):
        assert MetadataFilter("sport", "", "", "a", hides).condition()(packed(meta)) is is_found
    assert not MetadataFilter("sport", "", "", "c", hide_children=False).condition()(packed(meta))
    said = json.loads(metadata_text(meta))
    assert (list(said)[:2], said["tags"]) == (["title", "image"], ["a", "b"])


def accounts_agree(folder: Path) -> None:
    """The record of an account in answers, and the images of accounts."""
    with Store.open(folder, STORED_TABLES, space=SMALL) as store:
        authority = authority_of(PublicKey(b"\2" * 33))
        account = accounts.Account(name=ALICE, energy=7, vote_count=8)
        store.create(accounts.ACCOUNTS, account)
        store.create(
            accounts.ACCOUNT_AUTHORITIES,
            accounts.AccountAuthority(account=ALICE, master=authority, active=authority, regular=authority),
        )
        store.create(accounts.ACCOUNT_METADATA, accounts.AccountMetadata(account=ALICE, json_metadata="{}"))
        text = account_text(store, ALICE)
        assert text is not None
        shown = json.loads(text)
        assert (list(shown)[:3], shown["energy"]) == (["id", "name", "master_authority"], 7)
        assert shown["active_authority"] == json.loads(codec_of(type(authority)).to_json(authority))
        store.commit()
        with store.committed() as view:
            assert {(image.account, image.kind.name) for image in images_in(view)} == {
                (ALICE, kind) for kind in ("ACCOUNT", "AUTHORITY", "METADATA")
            }


if __name__ == "__main__":
    for module, changed in MOVES.items():
        for name, (field, _) in changed.items():
            ours = [
                each for each in sys.modules if each.startswith((OBJECTS, PROJECTED)) and each.endswith(f".{module}")
            ]
            (record,) = {getattr(sys.modules[each], name) for each in ours if hasattr(sys.modules[each], name)}
            sys.stdout.write(f"{record.__module__} {name} {field} {record.__struct_fields__.index(field)}\n")
    lists_agree()
    with TemporaryDirectory() as folder:
        accounts_agree(Path(folder))
