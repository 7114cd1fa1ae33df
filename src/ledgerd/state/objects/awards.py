"""Awards: their shares in the reward fund, which last for a while (spec 02, section 3.15)."""

from __future__ import annotations

from ledgerd.codec.numbers import ShareAmount
from ledgerd.protocol.times import Time
from ledgerd.state.keys import TIME
from ledgerd.state.tables import Entity, Table, ordered


class AwardSharesExpire(Entity):
    """Shares of an award that leave the sum of all again."""

    expires: Time = 0
    rshares: ShareAmount = 0


AWARD_SHARES_EXPIRE = Table(AwardSharesExpire, number=27)
AWARD_SHARES_BY_EXPIRATION = ordered(AWARD_SHARES_EXPIRE, "by_expiration", lambda shares: (shares.expires,), (TIME,))
