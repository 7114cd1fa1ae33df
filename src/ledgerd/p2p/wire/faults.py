"""Faults of peers, by severity: the only errors that decoding their bytes raises."""

from __future__ import annotations


class PeerFault(Exception):
    """A peer misbehaved."""


class FrameTooLarge(PeerFault):
    """A frame announces more than any frame may hold; its address is shut out for a while (spec 04, section 17.4)."""


class Undecodable(PeerFault):
    """A payload that is no message: the connection ends, without a strike (spec 04, section 2)."""


class UnknownType(PeerFault):
    """A message of a number that we do not know: one strike, nothing else (spec 04, section 2)."""
