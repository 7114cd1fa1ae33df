"""Faults of peers, by severity: the only errors that decoding their bytes raises."""

from __future__ import annotations


class PeerFault(Exception):
    """A violation of the protocol by a peer."""


class FrameTooLarge(PeerFault):
    """A frame header announces too large a size; the address is banned for a while (spec 04, section 17.4)."""


class Undecodable(PeerFault):
    """A payload that cannot be decoded: the connection is closed, without a strike (spec 04, section 2)."""


class UnknownType(PeerFault):
    """A message of an unknown number: one strike, nothing else (spec 04, section 2)."""
