"""The vectors of the written specification (spec 01, section 15) that no test of one operation or one type holds."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.block import (
    Block,
    BlockHeader,
    HardforkVote,
    RunningVersion,
    SignedHeader,
    merkle_root,
    sign_block,
)
from ledgerd.protocol.blocks.transaction import Transaction, reference_to
from ledgerd.protocol.crypto.keys import PrivateKey, public_key_text
from ledgerd.protocol.networks.parameters import MAINNET, TESTNET
from ledgerd.protocol.operations.money.transfers import DelegateVestingShares, Transfer
from ledgerd.protocol.operations.validators import SetRewardSharing, VersionedChainPropertiesUpdate
from ledgerd.protocol.properties import ChainPropertiesHf13
from ledgerd.protocol.types.assets import shares, tokens
from ledgerd.protocol.types.authority import Authority
from ledgerd.protocol.types.identifiers import NO_BLOCK, BlockId, MerkleRoot
from ledgerd.protocol.types.names import AccountName
from ledgerd.protocol.types.time_text import parse_time_text
from ledgerd.protocol.types.versions import HardforkVersionVote, version_number
from tests.protocol.operations.expect import round_trips

INITIATOR = PrivateKey.from_wif("5JabcrvaLnBTCkCVFX5r4rmeGGfuJuVp4NAKRNLTey6pxhRQmf4")
COMMITTEE = PrivateKey.from_wif("5Hw9YPABaFxa2LooiANLrhUK5TPryy8f7v9Y1rk923PuYqbYdfC")
ALICE, BOB, VIZ = AccountName("alice"), AccountName("bob"), AccountName("viz")

TRANSFER = Transfer(VIZ, AccountName("committee"), tokens(1500), "hi")
CONSTRUCTED = Transaction(1, 821_515_525, parse_time_text("2018-09-29T10:24:30"), (TRANSFER,), (), ())

NO_ROOT = MerkleRoot(bytes(20))
FIRST_TIME = parse_time_text("2018-09-29T10:23:27")
SECOND_BLOCK = (
    "000000010555f73083576ed81e2de916aa945ba9a252af5b0376697afa829889cffe9df4e18234c4d69818a15f8c166c0201000002030200"
    "00020300b95569204e9b430bc9d79d89a73cf88d3ace0cfdf3cc94811cb6b5b5f07a0adf983bf0c5736998e9ef51e6f8ff41d7778174ddce"
    "3d09477d95f16d93c225b078e66526b80101000555f730de52af5b01020376697a09636f6d6d6974746565dc050000000000000356495a00"
    "000000026869"
    "00011f34111d6d81985078c323ebefb0fd3ebd4d1a80f22f8d4d4101445d8badee80ff0c15f3338ffc52485da46954401bf98e5a"
    "c30944c1b3bbad4755c4abfad5cdc1"
)

SIGNED_ON_MAINNET = (
    {
        "ref_block_num": 34889,
        "ref_block_prefix": 453694329,
        "expiration": "2019-10-14T07:11:20",
        "operations": [
            ["transfer", {"from": "viz-social-bot", "to": "on1x", "amount": "7.725 VIZ", "memo": "withdraw:3353"}]
        ],
        "extensions": [],
        "signatures": [
            (
                "203e778ae54b5fe51367bef34a7001eca7257732075723e99f07fd8c4cd0cc8040021925c811fef0ff2151a28193403af6af05f05dadc"
                "1427bb0daf604df53ee0c"
            )
        ],
    },
    {
        "ref_block_num": 41097,
        "ref_block_prefix": 1234018187,
        "expiration": "2019-10-14T12:21:46",
        "operations": [
            [
                "award",
                {
                    "initiator": "social",
                    "receiver": "social",
                    "energy": 15,
                    "custom_sequence": 0,
                    "memo": "ubi",
                    "beneficiaries": [],
                },
            ]
        ],
        "extensions": [],
        "signatures": [
            (
                "1f64cb23ba686126f9a00d904840e472de44e0e2291eca5c6b380083ee7a0b9f9934bbe9f03404a33a6df0630a020ff4750b886b65f4"
                "af8cd9877df8128d45da05"
            )
        ],
    },
    {
        "ref_block_num": 1612,
        "ref_block_prefix": 2641357798,
        "expiration": "2019-10-22T05:59:27",
        "operations": [
            [
                "award",
                {
                    "initiator": "on1x",
                    "receiver": "viz-social-bot",
                    "energy": 20,
                    "custom_sequence": 0,
                    "memo": "telegram:262632819",
                    "beneficiaries": [],
                },
            ]
        ],
        "extensions": [],
        "signatures": [],
    },
)


def test_an_authority_keeps_its_accounts_in_the_order_of_their_text() -> None:
    authority = Authority(2, {BOB: 1, AccountName("alice.x"): 1}, {INITIATOR.public: 1})

    assert codec_of(Authority).encode(authority).hex() == (
        "020000000207616c6963652e78010003626f6201000102c21b05402e2af0456468e2a3f01938f6fbc0250c500f93eea6f069c1a75083ee0100"
    )


def test_a_delegation() -> None:
    round_trips(
        DelegateVestingShares(ALICE, BOB, shares(10_000_000)),
        "1305616c69636503626f6280969800000000000653484152455300",
        [
            "delegate_vesting_shares",
            {"delegator": "alice", "delegatee": "bob", "vesting_shares": "10.000000 SHARES"},
        ],
    )


def test_a_shared_reward() -> None:
    round_trips(
        SetRewardSharing(ALICE, 2500),
        "4005616c696365c409",
        ["set_reward_sharing", {"owner": "alice", "sharing_rate": 2500}],
    )


def test_the_defaults_of_the_mainnet_as_a_vote_of_the_version_of_hardfork_13() -> None:
    vote = VersionedChainPropertiesUpdate(ALICE, codec_of(ChainPropertiesHf13).from_json({}))

    assert codec_of(VersionedChainPropertiesUpdate).encode(vote).hex() == (
        "05616c69636504e8030000000000000356495a00000000000002000a000000008d270001000000000000000356495a000000004006400"
        "6e8030065cd1d0000000006534841524553000000404b4c00e803d0078813004e0c0000000000640080510100102700000000000003"
        "56495a00000000a0860100000000000356495a00000000a0860100000000000356495a0000000010270000000000000356495a000000"
        "00a0860100000000000356495a0000000010270000000000000356495a000000001c0080700000"
    )


def test_the_constructed_transaction() -> None:
    packed = "01000555f730de52af5b01020376697a09636f6d6d6974746565dc050000000000000356495a0000000002686900"

    assert CONSTRUCTED.unsigned.hex() == packed
    assert CONSTRUCTED.id.hex() == "f161e6656fac926a6d33c971e4fcd29f000f90b4"


@pytest.mark.parametrize(
    ("chain_id", "digest", "signature"),
    [
        (
            MAINNET.chain_id,
            "a8ca936d4f5c3296afc477eadee35ced01e8f09fa1ed72fa352b108fdffdabf3",
            (
                "1f34111d6d81985078c323ebefb0fd3ebd4d1a80f22f8d4d4101445d8badee80ff0c15f3338ffc52485da46954401bf98e5ac30944c1"
                "b3bbad4755c4abfad5cdc1"
            ),
        ),
        (
            TESTNET.chain_id,
            "9d495e39bb6fcd2c314619dc3172f6b27a31b77051896f81c0a327f639410a48",
            (
                "1f2f39b12eb47118bf2621f24a2d89b6ae62b66b884a15000a04303a423d9c18337205e2ea347c97e64b07089ae2c987124b73446ee7"
                "752668b1ca25af400efb3c"
            ),
        ),
    ],
    ids=["mainnet", "testnet"],
)
def test_the_constructed_transaction_signed(chain_id: bytes, digest: str, signature: str) -> None:
    signed = CONSTRUCTED.signed(chain_id, [INITIATOR])

    assert signed.signature_digest(chain_id).hex() == digest
    assert [each.hex() for each in signed.signatures] == [signature]
    assert signed.signature_keys(chain_id) == {INITIATOR.public}
    assert signed.id == CONSTRUCTED.id


def test_the_merkle_roots_of_one_two_and_three() -> None:
    first = CONSTRUCTED.signed(MAINNET.chain_id, [INITIATOR]).merkle_digest
    second, third = hashlib.sha256(b"2").digest(), hashlib.sha256(b"3").digest()

    assert first.hex() == "ad1a78467414f262a0678263f730890318629ec8d87ffcd0aa255d83ecc0e851"
    assert merkle_root([]) == bytes(20)
    assert merkle_root([first]).hex() == "fa829889cffe9df4e18234c4d69818a15f8c166c"
    assert merkle_root([first, second]).hex() == "e0f97421720432ccfa0d3c311102fe68dcdb0315"
    assert merkle_root([first, second, third]).hex() == "45430e8d38a8fa19ba2c3b708d27580bd734198b"


@pytest.mark.parametrize(
    ("printed", "packed", "transaction_id", "key"),
    [
        (
            SIGNED_ON_MAINNET[0],
            (
                "498879d30a1b981fa45d01020e76697a2d736f6369616c2d626f74046f6e31782d1e0000000000000356495a000000000d77697468647"
                "261773a3333353300"
            ),
            "d5f53163bc237b17c8fd6f3278d3ca1b4ae21691",
            "VIZ6WLLVBg817BPdYXfrdN1CCUGDzCB6TcbdJe6Vz1ioAiekfWLrv",
        ),
        (
            SIGNED_ON_MAINNET[1],
            "89a08b9f8d495a68a45d012f06736f6369616c06736f6369616c0f00000000000000000003756269" + "0000",
            "bac65ca402c9ef0b790f1cf56f1cfe3fcfeed193",
            "VIZ5iCdUDKypJU3iCp1vbkTk5P7hEW1GgK6E75V1yZZznGU7NuV32",
        ),
        (
            SIGNED_ON_MAINNET[2],
            (
                "4c06e6eb6f9dbf9aae5d012f046f6e31780e76697a2d736f6369616c2d626f74140000000000000000001274656c656772616d3a32363"
                "23633323831390000"
            ),
            "c84f9e8255859b2083be720cf9b64b3542e4360f",
            None,
        ),
    ],
)
def test_a_transaction_of_the_mainnet(
    printed: dict[str, Any], packed: str, transaction_id: str, key: str | None
) -> None:
    transaction = codec_of(Transaction).from_json(printed)

    assert transaction.unsigned.hex() == packed
    assert transaction.id.hex() == transaction_id
    assert {public_key_text(each) for each in transaction.signature_keys(MAINNET.chain_id)} == ({key} if key else set())
    assert json.loads(codec_of(Transaction).to_json(transaction)) == printed


def test_the_leaf_of_a_transaction_of_the_mainnet() -> None:
    transaction = codec_of(Transaction).from_json(SIGNED_ON_MAINNET[0])

    assert transaction.signature_digest(MAINNET.chain_id).hex() == (
        "e43b19f0b6d3b05d1894d0e495286adb2f17e3198acdda850f47b95881e07d23"
    )
    assert transaction.merkle_digest.hex() == "31aa1291be222d725fd2cff5cccf0f75d95c08d2a9611cebca57d440fcf1d2cb"


def test_the_first_block_of_the_mainnet() -> None:
    header = BlockHeader(NO_BLOCK, FIRST_TIME, "committee", NO_ROOT, (RunningVersion(version_number(1, 0)),))
    block = sign_block(header, (), COMMITTEE)

    assert codec_of(BlockHeader).encode(header).hex() == (
        "00000000000000000000000000000000000000009f52af5b09636f6d6d69747465650000000000000000000000000000000000000000"
        "010100000001"
    )
    assert header.digest.hex() == "afc50f3f4e175d1514086729963a64cdffdaa84911c088e9b201b2215d69fbd4"
    assert block.validator_signature.hex() == (
        "2003120d1f1d8bb8e8325036838e5269332fbec7c88cd3cc76e4517d27772856ce43ef6bf0a7fde9987cec9467b944e7626db100b708"
        "67e7ec82308879a021e97a"
    )
    assert block.id.hex() == "000000010496d4414ddcee5b76f9a6b950da6fe9"
    assert reference_to(block.id) == (1, 1_104_451_076)
    assert block.signee == COMMITTEE.public
    assert json.loads(codec_of(BlockHeader).to_json(header))["extensions"] == [[1, "1.0.0"]]


def first_constructed_block() -> Block:
    return sign_block(BlockHeader(NO_BLOCK, FIRST_TIME, "viz", NO_ROOT, ()), (), INITIATOR)


def test_the_first_constructed_block() -> None:
    block = first_constructed_block()

    assert block.header.digest.hex() == "27a144c039b641829b41fe239f769432fc39a0ffdc6fdbd41630bed1deb84d3d"
    assert block.validator_signature.hex() == (
        "203b6de532cd62a17338ec57811c73fee1119a5e7e69ca6d30d1b6036009b8ec6d77c64cb93bc528e6104c33518d51260cd3afaa8ee0"
        "f77dfd375f0ed80db62150"
    )
    assert hashlib.sha224(block.header.packed).hexdigest() == "0a493f390555f73083576ed81e2de916aa945ba9ed1539d44d26719f"
    assert block.id.hex() == "000000010555f73083576ed81e2de916aa945ba9"


def test_the_second_constructed_block() -> None:
    version = version_number(3, 2)
    vote = HardforkVersionVote(version, parse_time_text("2026-01-01T00:00:00"))
    transaction = CONSTRUCTED.signed(MAINNET.chain_id, [INITIATOR])
    header = BlockHeader(
        BlockId(first_constructed_block().id),
        FIRST_TIME + 3,
        "viz",
        merkle_root([transaction.merkle_digest]),
        (RunningVersion(version), HardforkVote(vote)),
    )
    block = sign_block(header, (transaction,), INITIATOR)

    assert header.digest.hex() == "b7800c2521f8de6721325095654b03ecaaa4e7bcda5d9961eb5d8ef5dce1a784"
    assert block.id.hex() == "0000000270c387761b2c1767e164b5e4d0d37724"
    assert block.packed.hex() == SECOND_BLOCK
    assert len(block.packed) == 241
    assert codec_of(Block).decode_exactly(bytes.fromhex(SECOND_BLOCK)) == block


def test_an_empty_signed_header_takes_111_bytes() -> None:
    """Section 11."""
    nothing = codec_of(SignedHeader).from_json({})

    assert len(nothing.packed) == 111
