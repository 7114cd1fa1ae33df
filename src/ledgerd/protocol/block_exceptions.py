"""Blocks of the mainnet that break a rule and are valid all the same (spec 03, section 2)."""

from __future__ import annotations

from ledgerd.protocol.identifiers import MerkleRoot

EXCEPTED_BLOCKS: dict[int, MerkleRoot] = {
    3705111: MerkleRoot(bytes.fromhex("0a8f0fd5450c3706ec8b8cbad795cd0b3679bf35")),
    3705120: MerkleRoot(bytes.fromhex("2027edb72b671f7011c8cc4c7a8b59c39b305093")),
    3713940: MerkleRoot(bytes.fromhex("bf8a1d516927c506ebdbb7b38bef2e992435435f")),
    3714132: MerkleRoot(bytes.fromhex("e8b77773d268b72c8d650337b8cce360bbe64779")),
    3714567: MerkleRoot(bytes.fromhex("45af59a8c2d7d4a606151ef5dae03d2dfe13fbdd")),
    3714588: MerkleRoot(bytes.fromhex("e64275443bdc82f104ac936486d367af8f6d1584")),
    4138790: MerkleRoot(bytes.fromhex("f65a3a788a2ef52406d8ba5705d7288be228403f")),
    5435426: MerkleRoot(bytes.fromhex("0b32538b2d22bd3146d54b6e3cb5ae8b9780e8a5")),
}
"""By number, the merkle root that the transactions really have. Their active authorities may be missing too."""
