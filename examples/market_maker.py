"""The book of a market maker on prediction markets: its orders, what all have put on each outcome, and its results.

MAKER=my-account ledgerd app run examples/market_maker.py --node http://127.0.0.1:8090 --http 127.0.0.1:8095
"""

from __future__ import annotations

import os

from sqlalchemy import BigInteger, Column, Connection, Integer, SmallInteger, func, select

from ledgerd.app import Application, ChainStep
from ledgerd.protocol.operations.markets.bets import PmPlaceBet
from ledgerd.protocol.operations.markets.virtual_markets import PmPayout

MAKER = os.environ.get("MAKER", "maker")

app = Application("market_maker")

orders = app.table(
    "orders",
    *[Column(name, Integer, primary_key=True) for name in ("block", "transaction", "operation", "virtual")],
    Column("market", BigInteger, nullable=False, index=True),
    Column("outcome", SmallInteger, nullable=False),
    Column("amount", BigInteger, nullable=False),
)
flow = app.table(
    "flow",
    Column("market", BigInteger, primary_key=True, autoincrement=False),
    Column("outcome", SmallInteger, primary_key=True, autoincrement=False),
    Column("bets", Integer, nullable=False),
    Column("volume", BigInteger, nullable=False),
    Column("last_block", Integer, nullable=False),
)
results = app.table(
    "results",
    Column("bet", BigInteger, primary_key=True, autoincrement=False),
    Column("market", BigInteger, nullable=False, index=True),
    Column("amount", BigInteger, nullable=False),
    Column("payout", BigInteger, nullable=False),
)


@app.on(PmPlaceBet)
def bet(step: ChainStep, placed: PmPlaceBet) -> None:
    what = {"market": placed.market_id, "outcome": placed.choice}
    new = step.insert(flow).values(**what, bets=1, volume=placed.amount.amount, last_block=step.number)
    more = {"bets": flow.c.bets + 1, "volume": flow.c.volume + new.excluded.volume, "last_block": step.number}
    step.execute(new.on_conflict_do_update(index_elements=["market", "outcome"], set_=more))
    if placed.account == MAKER:
        step.execute(
            step.insert(orders).values(block=step.number, **step.place._asdict(), **what, amount=placed.amount.amount)
        )


@app.on(PmPayout)
def settle(step: ChainStep, paid: PmPayout) -> None:
    if paid.account == MAKER:
        sums = {"amount": paid.amount.amount, "payout": paid.payout.amount}
        step.execute(step.insert(results).values(bet=paid.bet_id, market=paid.market_id, **sums))


@app.method
def book(tables: Connection, market: int) -> list[dict[str, int | float]]:
    """Each outcome: what all have bet on it, its share of that, and how much of it is ours."""
    own = select(orders.c.outcome, func.sum(orders.c.amount).label("own")).where(orders.c.market == market)
    own_by = {row.outcome: int(row.own) for row in tables.execute(own.group_by(orders.c.outcome))}
    rows = tables.execute(select(flow).where(flow.c.market == market).order_by(flow.c.outcome)).all()
    whole = sum(row.volume for row in rows) or 1
    return [
        {"outcome": row.outcome, "volume": row.volume, "price": row.volume / whole, "own": own_by.get(row.outcome, 0)}
        for row in rows
    ]


@app.method
def profit(tables: Connection) -> dict[str, int]:
    """What was won and lost with bets that are settled, in thousandths."""
    sums = select(
        func.count(), func.coalesce(func.sum(results.c.amount), 0), func.coalesce(func.sum(results.c.payout), 0)
    )
    bets, staked, paid = tables.execute(sums).one()
    return {"bets": bets, "staked": int(staked), "paid": int(paid), "profit": int(paid) - int(staked)}
