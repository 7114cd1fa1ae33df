"""What a node says of accounts, validators, proposals, the committee's requests and history, as rows of a table."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

from ledgerd.wallet.commands.result import CommandResult
from ledgerd.wallet.errors import NoSuchAccount, WalletError
from ledgerd.wallet.node.client import NodeClient

NO_VOTES_FIRST = ""
OPEN_REQUEST = 0
LAST = 0xFFFFFFFF


def account(node: NodeClient, name: str) -> CommandResult:
    found = node.call("database_api", "get_accounts", [name])
    with node.understood():
        records = msgspec.convert(found, Annotated[list[Any], msgspec.Meta(max_length=1)])
    if not records:
        raise NoSuchAccount(f"there is no account {name}")
    return {"title": f"account {name}", "record": records[0]}


def validator(node: NodeClient, name: str | None, limit: int) -> CommandResult:
    if name is None:
        found = node.call("validator_api", "get_validators_by_counted_vote", NO_VOTES_FIRST, limit)
        columns = ("owner", "counted_votes", "total_missed", "running_version", "signing_key")
        return {"title": "validators", "columns": columns, "rows": _rows(node, found, columns), "records": found}
    found = node.call("validator_api", "get_validator_by_account", name)
    if found is None:
        raise NoSuchAccount(f"{name} is no validator")
    return {"title": f"validator {name}", "record": found}


def proposal(node: NodeClient, name: str) -> CommandResult:
    found = node.call("database_api", "get_proposed_transactions", name, 0, 100)
    columns = ("author", "title", "expiration_time", "required_active_approvals", "available_active_approvals")
    return {"title": f"proposals of {name}", "columns": columns, "rows": _rows(node, found, columns), "records": found}


def committee(node: NodeClient, number: int | None) -> CommandResult:
    if number is not None:
        return {
            "title": f"request {number}",
            "record": node.call("committee_api", "get_committee_request", number, -1),
        }
    ids = node.call("committee_api", "get_committee_requests_list", OPEN_REQUEST)
    with node.understood():
        ids = msgspec.convert(ids, list[Any])
    found = [node.call("committee_api", "get_committee_request", each, 0) for each in ids]
    columns = ("request_id", "creator", "worker", "url", "required_amount_min", "required_amount_max", "end_time")
    return {"title": "requests", "columns": columns, "rows": _rows(node, found, columns), "records": found}


def history(node: NodeClient, name: str, limit: int) -> CommandResult:
    if limit < 1:
        raise WalletError("at least one entry has to be asked for")
    found = node.call("account_history", "get_account_history", name, LAST, limit - 1)
    with node.understood():
        rows = [
            [number, entry["timestamp"], entry["block"], entry["op"][0], _fields(entry["op"][1])]
            for number, entry in found
        ]
    return {
        "title": f"history of {name}",
        "columns": ("number", "time", "block", "operation", "fields"),
        "rows": rows,
        "records": found,
    }


def _fields(record: dict[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in record.items() if value not in ("", [], None))


def _rows(node: NodeClient, found: object, columns: tuple[str, ...]) -> list[list[object]]:
    with node.understood():
        records = msgspec.convert(found, list[Any])
    return [[each.get(name, "") for name in columns] for each in records if isinstance(each, dict)]
