"""What pricing refuses: a named fault for each way in which the reference stops, with the text that it stops with."""

from __future__ import annotations


class PricingError(Exception):
    """A price, a fill or a payout that the reference refuses to compute."""

    message: str
    """The reference's complete text: the condition that did not hold, a colon, and what it says of it."""

    def __init__(self) -> None:
        super().__init__(self.message)


class DivisionByZero(PricingError):
    """A 128-bit division by zero, which the reference raises without a text (spec 02, section 1.2)."""

    message = ""


class ExpOutOfDomain(PricingError):
    """An exponent beyond 130 (spec 09, section 8.2), which a book of a spread between 130 and 200 asks for."""

    message = "abs_x <= q96(130) * ONE: LMSR_OVERFLOW: exp_q domain exceeded"


class LogOutOfDomain(PricingError):
    """A logarithm of what is not above zero (spec 09, section 8.3)."""

    message = "x > 0: LMSR_DOMAIN_LN: ln_q called with x <= 0"


class WrongOutcomeCount(PricingError):
    """A book of fewer than 2 or more than 128 outcomes (spec 09, section 8.4)."""

    message = "q.size() >= 2 && q.size() <= 128: LMSR_INVALID_N: outcomes must be 2..128"


class TooManyOutcomes(PricingError):
    """More than 128 outcomes where only a depth is asked for (spec 09, section 8.6)."""

    message = "n <= 128: LMSR_INVALID_N"


class DepthTooLarge(PricingError):
    """A depth `b` above 2^53 (spec 09, section 8.4)."""

    message = "q96(b) <= MAX_B: LMSR_INVALID_B: b exceeds MAX_B (2^53)"


class DepthNotPositive(PricingError):
    """A depth `b` of zero or less (spec 09, section 8.4)."""

    message = "b > 0: LMSR_INVALID_B: b must be > 0"


class QuantityNegative(PricingError):
    """An outcome of which less than nothing was sold (spec 09, section 8.4)."""

    message = "qi >= 0: LMSR_INVALID_Q: q[i] < 0"


class QuantityTooLarge(PricingError):
    """An outcome of which more than 2^53 was sold (spec 09, section 8.4)."""

    message = "q96(qi) <= MAX_Q: LMSR_INVALID_Q: q[i] exceeds MAX_Q (2^53)"


class CurveOverflow(PricingError):
    """A reserve that comes to zero before it divides (spec 08, sections 5.1 and 5.4)."""

    message = "denom.lo > 0 || denom.hi > 0: CPMM overflow"


class RefundUnderflow(PricingError):
    """A cancelled bet for which the curve gives less than nothing (spec 08, section 5.4)."""

    message = "curve_refund >= 0: curve-priced refund underflow"
