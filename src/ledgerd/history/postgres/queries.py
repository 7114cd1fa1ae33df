"""What the APIs ask of PostgreSQL. A query names the column by which its tables may be spread over machines
(docs/history-at-scale.md) in an equality, so that one machine answers it; a test lists the exceptions.
"""

from __future__ import annotations

from ledgerd.projections.accounts.balances import Held

_NUMBERS = "block, trx_in_block, op_in_trx, virtual_op, extract(epoch FROM time)::bigint, transaction_id, packed"
_AT_BLOCK = "WHERE block_range = %s AND block = %s"
_OF_KINDS = "(%s::int[] IS NULL OR tag = ANY(%s::int[]))"
_ENTRIES = "WHERE account = %s AND sequence BETWEEN %s AND %s"
_COUNTS = (
    "SELECT block, operations FROM (SELECT block, operations FROM blocks WHERE block BETWEEN %s AND %s "
    "UNION ALL SELECT block, operations FROM blocks_reversible WHERE block BETWEEN %s AND %s) AS both_kinds "
    "WHERE operations > 0 ORDER BY block {} LIMIT %s"
)
_OF_PAGE = "WHERE account = %(account)s AND sequence BETWEEN last - %(more)s AND last ORDER BY sequence"
_PAGE = (
    "WITH known AS MATERIALIZED (SELECT is_indexed, head, coalesce("
    "(SELECT max(sequence) + 1 FROM account_operations_reversible WHERE account = %(account)s), "
    "(SELECT entries FROM accounts WHERE account = %(account)s), 0) AS following FROM feed), "
    "page AS MATERIALIZED (SELECT *, least(%(last)s, following - 1) AS last FROM known) "
    "SELECT is_indexed, head, following, "
    f"ARRAY(SELECT entry FROM account_operations {_OF_PAGE}) || "
    f"ARRAY(SELECT entry FROM account_operations_reversible {_OF_PAGE}) FROM page"
)
"""All that `get_account_history` needs, in one answer of the server."""

_HELD_AT = (
    "(SELECT amount FROM {} WHERE account = %(account)s AND holding = '{}' AND block <= %(block)s "
    "ORDER BY block DESC, ordinal DESC LIMIT 1)"
)


def _held(name: str) -> str:
    """The amount that an account had of a holding; without a row it is 0."""
    return f"coalesce({_HELD_AT.format('balances_reversible', name)}, {_HELD_AT.format('balances', name)}, 0)"


def _twins(name: str, query: str) -> dict[str, str]:
    before, _, after = query.rpartition(" FROM ")
    table, _, conditions = after.partition(" ")
    return {name: query, f"{name}, reversible": f"{before} FROM {table}_reversible {conditions}"}


QUERIES: dict[str, str] = {
    "page": _PAGE,
    "balances begin": "SELECT balances_from FROM feed",
    "balances": f"SELECT {', '.join(_held(each.name.lower()) for each in Held)}",
    "feed": "SELECT head, irreversible, is_indexed FROM feed",
    "range": (
        "SELECT (SELECT entries FROM accounts WHERE account = %s), "
        "(SELECT max(sequence) + 1 FROM account_operations_reversible WHERE account = %s)"
    ),
    "first entry, reversible": (
        "SELECT min(sequence) FROM account_operations_reversible WHERE account = %s AND block >= %s"
    ),
    "counts up": _COUNTS.format("ASC"),
    "counts down": _COUNTS.format("DESC"),
    "between": (
        f"SELECT {_NUMBERS} FROM (SELECT * FROM operations WHERE block BETWEEN %s AND %s AND {_OF_KINDS} "
        f"UNION ALL SELECT * FROM operations_reversible WHERE block BETWEEN %s AND %s AND {_OF_KINDS}) AS both_kinds "
        "ORDER BY block, place"
    ),
    **_twins("mark", f"SELECT id FROM blocks {_AT_BLOCK}"),
    **_twins("operations", f"SELECT {_NUMBERS} FROM operations {_AT_BLOCK} ORDER BY place"),
    **_twins(
        "packed",
        f"SELECT packed FROM operations {_AT_BLOCK} AND trx_in_block = %s AND op_in_trx = %s AND virtual_op = %s",
    ),
    **_twins("some operations", f"SELECT {_NUMBERS} FROM operations {_AT_BLOCK} ORDER BY place OFFSET %s LIMIT %s"),
    **_twins(
        "kinds",
        f"SELECT tag, virtual_op > 0, count(*) FROM operations {_AT_BLOCK} GROUP BY 1, 2 ORDER BY min(place)",
    ),
    **_twins("transaction", "SELECT block, trx_in_block FROM transactions WHERE id = %s ORDER BY block LIMIT 1"),
    **_twins("entries", f"SELECT sequence, entry FROM account_operations {_ENTRIES} ORDER BY sequence"),
    **_twins(
        "entries of kinds",
        f"SELECT sequence, entry FROM account_operations {_ENTRIES} AND tag = ANY(%s::int[]) ORDER BY sequence",
    ),
    **_twins(
        "since", "SELECT block FROM blocks WHERE time >= to_timestamp(%s) AND operations > 0 ORDER BY time LIMIT 1"
    ),
}
