"""The deposits of an exchange: pending in a block, confirmed when no fork can undo that block.

Customers send to the account EXCHANGE with their number as the memo. Whatever has another memo waits for a person.

EXCHANGE=my-exchange ledgerd app run examples/deposits.py --node http://127.0.0.1:8090 --http 127.0.0.1:8095
"""

from __future__ import annotations

import os

from sqlalchemy import BigInteger, Column, Connection, Integer, String, Text, func, select, update

from ledgerd.app import Application, ChainStep
from ledgerd.protocol.operations.money.transfers import Transfer

EXCHANGE = os.environ.get("EXCHANGE", "exchange")
LONGEST_NUMBER = 12

app = Application("deposits", history=True)  # with the transfers that proposals carry out

deposits = app.table(
    "deposits",
    *[Column(name, Integer, primary_key=True) for name in ("block", "transaction", "operation", "virtual")],
    Column("transaction_id", String(40), nullable=False),
    Column("customer", BigInteger, index=True),
    Column("sender", String(25), nullable=False),
    Column("amount", BigInteger, nullable=False),  # in thousandths
    Column("memo", Text, nullable=False),
    Column("state", String(9), nullable=False),
)


@app.on(Transfer)
def receive(step: ChainStep, transfer: Transfer) -> None:
    if transfer.recipient != EXCHANGE or not transfer.amount.is_token:
        return
    memo = transfer.memo.strip()
    is_number = memo.isascii() and memo.isdecimal() and len(memo) <= LONGEST_NUMBER
    step.execute(
        step.insert(deposits).values(
            block=step.number,
            **step.place._asdict(),
            transaction_id=step.transaction_id,
            customer=int(memo) if is_number else None,
            sender=transfer.sender,
            amount=transfer.amount.amount,
            memo=transfer.memo.replace("\0", ""),
            state="pending",
        )
    )


@app.on_irreversible
def confirm(step: ChainStep, number: int) -> None:
    waiting = (deposits.c.state == "pending") & (deposits.c.block <= number)
    step.execute(update(deposits).where(waiting).values(state="confirmed"))


@app.method
def balance(tables: Connection, customer: int) -> dict[str, int]:
    """What a customer has sent, in thousandths: pay out only what is confirmed."""
    sums = select(deposits.c.state, func.sum(deposits.c.amount)).where(deposits.c.customer == customer)
    found = {state: int(total) for state, total in tables.execute(sums.group_by(deposits.c.state))}
    return {"pending": 0, "confirmed": 0, **found}


@app.method
def unassigned(tables: Connection, count: int = 100) -> list[dict[str, str | int]]:
    """Deposits whose memo is no customer's number, the newest first."""
    wanted = select(deposits).where(deposits.c.customer.is_(None)).order_by(deposits.c.block.desc())
    return [dict(row) for row in tables.execute(wanted.limit(max(0, min(count, 1000)))).mappings()]
