"""Codecs compiled from annotations: Python types to bytes and JSON, and back. They know nothing of the ledger."""

from ledgerd.codec.annotations import array_of, declare, kind_of, missing, missing_by, one_of, record_kind, sorted_by
from ledgerd.codec.codec import Codec, codec_of
from ledgerd.codec.errors import CodecError, DecodeError
from ledgerd.codec.types.variants import Void

__all__ = [
    "Codec",
    "CodecError",
    "DecodeError",
    "Void",
    "array_of",
    "codec_of",
    "declare",
    "kind_of",
    "missing",
    "missing_by",
    "one_of",
    "record_kind",
    "sorted_by",
]
