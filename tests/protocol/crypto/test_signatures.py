"""Signatures: those that the reference made, made again; then each limit of turning one back into a key."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from coincurve import PublicKey as Point
from coincurve._libsecp256k1 import ffi  # type: ignore[import-not-found]  # compiled, without types
from hypothesis import given, settings
from hypothesis import strategies as st

from ledgerd.protocol.crypto import signatures
from ledgerd.protocol.crypto.hashing import sha256
from ledgerd.protocol.crypto.keys import PrivateKey, public_key_text
from ledgerd.protocol.crypto.signatures import Signature, UnreadableSignature, is_canonical, recover, sign
from ledgerd.protocol.errors import RuleViolation

VECTORS = Path(__file__).parents[2] / "vectors"
RECORDED = [json.loads(line) for line in (VECTORS / "block_signatures.jsonl").read_text().splitlines()]

ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
FIELD = 2**256 - 2**32 - 977

INITIATOR = PrivateKey.from_wif("5JabcrvaLnBTCkCVFX5r4rmeGGfuJuVp4NAKRNLTey6pxhRQmf4")
COMMITTEE = PrivateKey.from_wif("5Hw9YPABaFxa2LooiANLrhUK5TPryy8f7v9Y1rk923PuYqbYdfC")
KEYS = {public_key_text(key.public): key for key in (INITIATOR, COMMITTEE)}

DIGEST = bytes.fromhex("a8ca936d4f5c3296afc477eadee35ced01e8f09fa1ed72fa352b108fdffdabf3")
SIGNED = Signature(
    bytes.fromhex(
        "1f34111d6d81985078c323ebefb0fd3ebd4d1a80f22f8d4d4101445d8badee80ff"
        "0c15f3338ffc52485da46954401bf98e5ac30944c1b3bbad4755c4abfad5cdc1"
    )
)
R, S = SIGNED[1:33], SIGNED[33:]

digests = st.binary(min_size=32, max_size=32)
private_keys = st.integers(1, ORDER - 1).map(lambda number: PrivateKey(number.to_bytes(32, "big")))


def compact(header: int, r: bytes | int, s: bytes | int) -> Signature:
    r, s = (part if isinstance(part, bytes) else part.to_bytes(32, "big") for part in (r, s))
    return Signature(bytes([header]) + r + s)


@pytest.mark.parametrize(
    ("key", "digest", "signature"),
    [
        pytest.param(INITIATOR, DIGEST.hex(), SIGNED.hex(), id="transaction, 4 draws"),
        pytest.param(
            INITIATOR,
            "9d495e39bb6fcd2c314619dc3172f6b27a31b77051896f81c0a327f639410a48",
            "1f2f39b12eb47118bf2621f24a2d89b6ae62b66b884a15000a04303a423d9c1833"
            "7205e2ea347c97e64b07089ae2c987124b73446ee7752668b1ca25af400efb3c",
            id="the same on a testnet, 3 draws",
        ),
        pytest.param(
            COMMITTEE,
            "afc50f3f4e175d1514086729963a64cdffdaa84911c088e9b201b2215d69fbd4",
            "2003120d1f1d8bb8e8325036838e5269332fbec7c88cd3cc76e4517d27772856ce"
            "43ef6bf0a7fde9987cec9467b944e7626db100b70867e7ec82308879a021e97a",
            id="mainnet block 1, 10 draws",
        ),
        pytest.param(
            INITIATOR,
            "27a144c039b641829b41fe239f769432fc39a0ffdc6fdbd41630bed1deb84d3d",
            "203b6de532cd62a17338ec57811c73fee1119a5e7e69ca6d30d1b6036009b8ec6d"
            "77c64cb93bc528e6104c33518d51260cd3afaa8ee0f77dfd375f0ed80db62150",
            id="constructed block, 3 draws",
        ),
    ],
)
def test_published_signatures_are_made_again(key: PrivateKey, digest: str, signature: str) -> None:
    assert sign(key, bytes.fromhex(digest)).hex() == signature
    assert recover(Signature(bytes.fromhex(signature)), bytes.fromhex(digest)) == key.public


@pytest.mark.parametrize("block", RECORDED, ids=lambda block: block["digest"][:8])
def test_blocks_of_the_reference_are_signed_byte_for_byte_as_it_did(block: dict[str, str]) -> None:
    digest = bytes.fromhex(block["digest"])
    signature = Signature(bytes.fromhex(block["signature"]))
    assert public_key_text(recover(signature, digest)) == block["key"]
    assert sign(KEYS[block["key"]], digest) == signature


MAINNET = bytes.fromhex("2040effda178d4fffff5eab7a915d4019879f5205cc5392e4bcced2b6edda0cd")


@pytest.mark.parametrize(
    ("transaction", "signature", "key"),
    [
        (
            (
                "498879d30a1b981fa45d01020e76697a2d736f6369616c2d626f74046f6e31782d1e00000000000003"
                "56495a000000000d77697468647261773a3333353300"
            ),
            (
                "203e778ae54b5fe51367bef34a7001eca7257732075723e99f07fd8c4cd0cc8040"
                "021925c811fef0ff2151a28193403af6af05f05dadc1427bb0daf604df53ee0c"
            ),
            "VIZ6WLLVBg817BPdYXfrdN1CCUGDzCB6TcbdJe6Vz1ioAiekfWLrv",
        ),
        (
            "89a08b9f8d495a68a45d012f06736f6369616c06736f6369616c0f000000000000000000037562690000",
            (
                "1f64cb23ba686126f9a00d904840e472de44e0e2291eca5c6b380083ee7a0b9f99"
                "34bbe9f03404a33a6df0630a020ff4750b886b65f4af8cd9877df8128d45da05"
            ),
            "VIZ5iCdUDKypJU3iCp1vbkTk5P7hEW1GgK6E75V1yZZznGU7NuV32",
        ),
    ],
)
def test_the_signers_of_mainnet_transactions_are_recovered(transaction: str, signature: str, key: str) -> None:
    digest = sha256(MAINNET + bytes.fromhex(transaction))
    assert public_key_text(recover(Signature(bytes.fromhex(signature)), digest)) == key


@settings(max_examples=60)
@given(private_keys, digests)
def test_what_a_key_signs_names_the_key(key: PrivateKey, digest: bytes) -> None:
    signature = sign(key, digest)
    assert is_canonical(signature)
    assert signature[0] in (31, 32)
    assert int.from_bytes(signature[33:], "big") <= ORDER // 2
    assert recover(signature, digest) == key.public
    assert sign(key, digest) == signature


@settings(max_examples=60)
@given(private_keys, digests, digests)
def test_a_signature_of_another_digest_does_not_name_the_key(key: PrivateKey, digest: bytes, other: bytes) -> None:
    signature = sign(key, digest)
    if digest != other:
        assert recover(signature, other) != key.public


@pytest.mark.parametrize("digest", [bytes(32), b"\xff" * 32, ORDER.to_bytes(32, "big")])
def test_digests_at_the_ends_of_the_range_can_be_signed(digest: bytes) -> None:
    assert recover(sign(INITIATOR, digest), digest) == INITIATOR.public


@pytest.mark.parametrize(("plain", "compressed"), [(27, 31), (28, 32), (29, 33), (30, 34)])
def test_each_header_byte_has_a_twin_that_means_the_same(plain: int, compressed: int) -> None:
    outcomes = []
    for header in (plain, compressed):
        try:
            outcomes.append(recover(compact(header, R, S), DIGEST).hex())
        except RuleViolation as violation:
            outcomes.append(violation.message)
    assert outcomes[0] == outcomes[1]
    assert (outcomes[0] == INITIATOR.public.hex()) == (plain == 27)


@pytest.mark.parametrize("header", [0, 1, 26, 35, 128, 255])
def test_no_other_header_byte_is_read(header: int) -> None:
    with pytest.raises(UnreadableSignature) as caught:
        recover(compact(header, R, S), DIGEST)
    assert (caught.value.code, caught.value.name) == (0, "exception")
    assert caught.value.message == "unable to reconstruct public key from signature"


def test_the_header_byte_is_looked_at_before_the_rest() -> None:
    with pytest.raises(UnreadableSignature):
        recover(compact(26, b"\xff" * 32, b"\xff" * 32), DIGEST)


@pytest.mark.parametrize(
    ("r", "s", "canonical"),
    [
        (R, S, True),
        (b"\x7f" + R[1:], b"\x7f" + S[1:], True),
        (b"\x80" + R[1:], S, False),
        (R, b"\x80" + S[1:], False),
        (b"\x00\x80" + R[2:], S, True),
        (b"\x00\x7f" + R[2:], S, False),
        (b"\x00\x00" + R[2:], S, False),
        (R, b"\x00\x80" + S[2:], True),
        (R, b"\x00\x7f" + S[2:], False),
        (R, b"\x00\x00" + S[2:], False),
        (b"\x01\x00" + R[2:], b"\x01\x00" + S[2:], True),
    ],
)
def test_the_first_two_bytes_of_r_and_s_decide_what_is_canonical(r: bytes, s: bytes, *, canonical: bool) -> None:
    assert is_canonical(compact(31, r, s)) == canonical


@pytest.mark.parametrize(
    ("r", "s"),
    [
        (R, b"\x80" + bytes(31)),
        (0, S),
        (R, 0),
        (ORDER, S),
        (R, ORDER),
        (b"\xff" * 32, S),
        (R, ORDER - int.from_bytes(S, "big")),
    ],
)
def test_a_signature_that_is_not_canonical_is_refused(r: bytes | int, s: bytes | int) -> None:
    with pytest.raises(RuleViolation) as caught:
        recover(compact(31, r, s), DIGEST)
    assert caught.value.message == "is_canonical(c): signature is not canonical"
    assert caught.value.code == 10


def test_a_high_s_is_accepted_where_it_is_canonical() -> None:
    # Half the order lies just under the canonical limit of 2^255: few high values of s are canonical.
    high = ORDER // 2 + 1
    assert high < 2**255
    assert recover(compact(31, R, high), DIGEST) == recover(compact(32, R, ORDER - high), DIGEST)


@pytest.mark.parametrize("header", [29, 30, 33, 34])
def test_an_r_beyond_the_field_after_adding_the_order_is_refused(header: int) -> None:
    least_canonical = 0x80 << 240
    assert least_canonical + ORDER >= FIELD
    with pytest.raises(RuleViolation, match="secp256k1_ecdsa_recover"):
        recover(compact(header, R, S), DIGEST)


def test_an_r_that_is_no_point_is_refused() -> None:
    off_the_curve = 0x0080 << 240 | 5
    while True:
        try:
            Point(b"\x02" + off_the_curve.to_bytes(32, "big"))
        except ValueError:
            break
        off_the_curve += 1
    with pytest.raises(RuleViolation) as caught:
        recover(compact(31, off_the_curve, S), DIGEST)
    assert caught.value.message == (
        "secp256k1_ecdsa_recover(detail::_get_context(), &recovered_key, &sig, (unsigned char*)digest.data()): "
    )


@pytest.mark.parametrize(("r", "s"), [(0, S), (R, 0), (0, 0)])
def test_a_zero_is_refused_even_where_canonical_form_is_not_asked_for(
    monkeypatch: pytest.MonkeyPatch, r: bytes | int, s: bytes | int
) -> None:
    monkeypatch.setattr(signatures, "is_canonical", lambda _signature: True)
    with pytest.raises(RuleViolation, match="secp256k1_ecdsa_recover"):
        recover(compact(31, r, s), DIGEST)


@pytest.mark.parametrize(("r", "s"), [(ORDER, S), (R, ORDER), (2**256 - 1, S), (R, 2**256 - 1)])
def test_the_order_of_the_curve_is_refused_even_where_canonical_form_is_not_asked_for(
    monkeypatch: pytest.MonkeyPatch, r: bytes | int, s: bytes | int
) -> None:
    monkeypatch.setattr(signatures, "is_canonical", lambda _signature: True)
    with pytest.raises(RuleViolation, match="parse_compact"):
        recover(compact(31, r, s), DIGEST)


@pytest.mark.parametrize("size", [0, 64, 66])
def test_no_other_number_of_bytes_reaches_the_curve(size: int) -> None:
    with pytest.raises(ValueError, match="bytes of signature"):
        recover(Signature(bytes(size)), DIGEST)


@pytest.mark.parametrize("size", [0, 31, 33])
def test_a_digest_has_32_bytes(size: int) -> None:
    with pytest.raises(ValueError, match="digest"):
        recover(SIGNED, bytes(size))
    with pytest.raises(ValueError, match="digest"):
        sign(INITIATOR, bytes(size))


def test_a_nonce_that_cannot_be_drawn_makes_no_signature(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signatures, "_NONCES", ffi.callback("secp256k1_nonce_function", lambda *_parts: 0))
    with pytest.raises(ArithmeticError):
        sign(INITIATOR, DIGEST)


def test_many_threads_sign_and_recover_side_by_side() -> None:
    work = [sha256(bytes([number])) for number in range(200)]
    alone = [sign(INITIATOR, digest) for digest in work]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(lambda digest: sign(INITIATOR, digest), work))
        keys = set(threads.map(recover, together, work))
    assert together == alone
    assert keys == {INITIATOR.public}
