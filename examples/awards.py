"""A leaderboard of awards: who was given most, and in how many awards.

ledgerd app run examples/awards.py --node http://127.0.0.1:8090 --http 127.0.0.1:8095
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Connection, Integer, String, select

from ledgerd.app import Application, ChainStep
from ledgerd.protocol.operations.virtual import BenefactorAward, ReceiveAward

app = Application("awards")

totals = app.table(
    "totals",
    Column("account", String(25), primary_key=True),
    Column("shares", BigInteger, nullable=False, index=True),  # in millionths
    Column("awards", Integer, nullable=False),
)


@app.on(ReceiveAward, BenefactorAward)
def count(step: ChainStep, award: ReceiveAward | BenefactorAward) -> None:
    account = award.receiver if isinstance(award, ReceiveAward) else award.benefactor
    new = step.insert(totals).values(account=account, shares=award.shares.amount, awards=1)
    more = {"shares": totals.c.shares + new.excluded.shares, "awards": totals.c.awards + 1}
    step.execute(new.on_conflict_do_update(index_elements=["account"], set_=more))


@app.method
def leaderboard(tables: Connection, count: int = 10) -> list[dict[str, str | int]]:
    """The accounts that were given most."""
    best = select(totals).order_by(totals.c.shares.desc(), totals.c.account).limit(max(0, min(count, 100)))
    return [
        {
            "account": row.account,
            "shares": f"{row.shares // 10**6}.{row.shares % 10**6:06} SHARES",
            "awards": row.awards,
        }
        for row in tables.execute(best)
    ]
