"""The creation of accounts and the change of their keys and metadata: bytes, JSON, rules, authorities."""

from __future__ import annotations

from ledgerd.codec import codec_of
from ledgerd.protocol.crypto.keys import NULL_KEY, public_key_from_text
from ledgerd.protocol.operations.accounts.accounts import AccountCreate, AccountMetadata, AccountUpdate
from ledgerd.protocol.operations.base import active, master, regular
from ledgerd.protocol.types.assets import TOKEN_SYMBOL, Asset, shares, tokens
from ledgerd.protocol.types.authority import Authority, authority_of
from ledgerd.protocol.types.names import NO_NAME, AccountName
from tests.protocol.operations.expect import accepts, asks_for_names, changed, refuses, round_trips

VIZ = AccountName("viz")
INITIATOR = "VIZ6MyX5QiXAXRZk7SYCiqpi6Mtm8UbHWDFSV8HPpt7FJyahCnc2T"
INITIATOR_KEY = public_key_from_text(INITIATOR)
OPEN = Authority(0, {}, {})
OF_NOBODY = Authority(1, {AccountName("a"): 1}, {})

MEMO = "VIZ4tXHg6QuXbpqGzuQvKqJv38GgKeg4R1pojPLBxz4NmK9sLX1gz"
MASTER = "VIZ55oGkYYEairrw4ghYG9cLGqQ3oEff3GPijz1Mz1C9swCwYhAvV"
OF_MASTER = authority_of(public_key_from_text(MASTER))
NEW_MASTER = AccountUpdate(AccountName("a311599"), OF_MASTER, None, None, public_key_from_text(MEMO), '{"v":62}')

OF_FRIENDS = Authority(
    3,
    {AccountName(name): weight for name, weight in (("alice", 1), ("bob", 1), ("charlie", 1), ("lot07", 2))},
    {INITIATOR_KEY: 1},
)
NEW_FRIENDS = AccountUpdate(AccountName("lot10"), None, OF_FRIENDS, OF_FRIENDS, INITIATOR_KEY, "{}")

KEYS = (
    "VIZ6nsPwFmKMoyztDEvcWuoNGwUm4yQoXbrUJLF7YNrkVMnwQYpMF",
    "VIZ7fSMF7bFxD3tsBFYjT6YMVThTBeqLuH8JUX1wvSRrVHjrMG66W",
    "VIZ5zEnQn97gBwBC5yLyn3EpzVTfXrQdzGsAjfrR36rygZosJd6hL",
    "VIZ7vnC9CxmBybFQWoWBHq7Ru1jxifBpqmsqZfXaEAYUCJ7uqxsxL",
)
CREATION = AccountCreate(
    tokens(2500),
    shares(1_000_000),
    AccountName("a65125847"),
    AccountName("a77369249"),
    authority_of(public_key_from_text(KEYS[0])),
    authority_of(public_key_from_text(KEYS[1])),
    authority_of(public_key_from_text(KEYS[2])),
    public_key_from_text(KEYS[3]),
    "",
    VIZ,
    (),
)
METADATA = AccountMetadata(VIZ, '{"p":"q"}')


def printed(authority: str) -> dict[str, object]:
    return {"weight_threshold": 1, "account_auths": [], "key_auths": [[authority, 1]]}


def test_an_update_of_the_memo_key_alone() -> None:
    round_trips(
        AccountUpdate(AccountName("alice"), None, None, None, INITIATOR_KEY, ""),
        "0505616c69636500000002c21b05402e2af0456468e2a3f01938f6fbc0250c500f93eea6f069c1a75083ee00",
        ["account_update", {"account": "alice", "memo_key": INITIATOR, "json_metadata": ""}],
    )


def test_a_recorded_update_of_the_master_authority() -> None:
    round_trips(
        NEW_MASTER,
        "050761333131353939010100000000010219ada7b7543f826d9de63562db130a868aa67cead35658dfac81a9bdba"
        "5e2e6c0100000002001363a74b19f2756398450e0cc4eb429c4e16454aa5f209a616e0c1de3056f1087b2276"
        "223a36327d",
        [
            "account_update",
            {
                "account": "a311599",
                "master": printed(MASTER),
                "memo_key": MEMO,
                "json_metadata": '{"v":62}',
            },
        ],
    )


def test_a_recorded_update_of_two_authorities_of_several_members() -> None:
    friends = {
        "weight_threshold": 3,
        "account_auths": [["alice", 1], ["bob", 1], ["charlie", 1], ["lot07", 2]],
        "key_auths": [[INITIATOR, 1]],
    }
    members = (
        "030000000405616c696365010003626f62010007636861726c69650100056c6f74303702000102c21b05402e2af0"
        "456468e2a3f01938f6fbc0250c500f93eea6f069c1a75083ee0100"
    )
    round_trips(
        NEW_FRIENDS,
        f"05056c6f7431300001{members}01{members}"
        "02c21b05402e2af0456468e2a3f01938f6fbc0250c500f93eea6f069c1a75083ee027b7d",
        [
            "account_update",
            {
                "account": "lot10",
                "active": friends,
                "regular": friends,
                "memo_key": INITIATOR,
                "json_metadata": "{}",
            },
        ],
    )


def test_a_recorded_creation() -> None:
    round_trips(
        CREATION,
        "14c4090000000000000356495a0000000040420f00000000000653484152455300096136353132353834370961373733"
        "363932343901000000000102faa1a3229a3c3482106a3488c9dfaf01f792e988a149f5b40eb966d0a0d3e23c01000100"
        "00000001036d73dda66ce3b6c8ddb8eb03ffa59e302ffa97ddf197677ad87530cbf2dec8590100010000000001029"
        "0bfdb232e3b6308c3ba7a62175e0d616d550b997ba764ca1faa6c40fa1b45f80100039049ec89c63489f94d971df1"
        "c35e30870c2b2bcfe917ad00ff01be2adbe9f6c5000376697a00",
        [
            "account_create",
            {
                "fee": "2.500 VIZ",
                "delegation": "1.000000 SHARES",
                "creator": "a65125847",
                "new_account_name": "a77369249",
                "master": printed(KEYS[0]),
                "active": printed(KEYS[1]),
                "regular": printed(KEYS[2]),
                "memo_key": KEYS[3],
                "json_metadata": "",
                "referrer": "viz",
                "extensions": [],
            },
        ],
    )


def test_a_recorded_change_of_metadata() -> None:
    round_trips(
        METADATA,
        "150376697a097b2270223a2271227d",
        ["account_metadata", {"account": "viz", "json_metadata": '{"p":"q"}'}],
    )


def test_missing_keys_are_unset_empty_and_open() -> None:
    nothing = tokens(0)
    assert codec_of(AccountUpdate).from_json({}) == AccountUpdate(NO_NAME, None, None, None, NULL_KEY, "")
    assert codec_of(AccountCreate).from_json({}) == AccountCreate(
        nothing, nothing, NO_NAME, NO_NAME, OPEN, OPEN, OPEN, NULL_KEY, "", NO_NAME, ()
    )
    assert codec_of(AccountMetadata).from_json({}) == AccountMetadata(NO_NAME, "")


def test_an_authority_of_null_is_one_that_is_not_given() -> None:
    update = codec_of(AccountUpdate).from_json({"account": "alice", "master": None})
    assert update.master is None


def test_an_update_looks_at_its_name_and_not_at_its_authorities() -> None:
    asks_for_names(NEW_MASTER, "account")
    accepts(changed(NEW_MASTER, master=OF_NOBODY, active=OPEN, regular=OF_NOBODY))


def test_metadata_is_json_in_utf8_or_nothing() -> None:
    accepts(changed(NEW_MASTER, json_metadata=""))
    accepts(changed(CREATION, json_metadata=""))
    for operation in (NEW_MASTER, CREATION, METADATA):
        accepts(changed(operation, json_metadata="{}"))
        refuses(
            changed(operation, json_metadata='"\udcff"'),
            "fc::is_utf8(json_metadata): JSON Metadata not formatted in UTF8",
        )
        refuses(
            changed(operation, json_metadata="{"),
            "fc::json::is_valid(json_metadata): JSON Metadata not valid JSON",
        )


def test_metadata_cannot_be_emptied() -> None:
    asks_for_names(METADATA, "account")
    refuses(changed(METADATA, json_metadata=""), "json_metadata.size() > 0: json_metadata can't be empty")


def test_a_new_name_is_three_bytes_long_at_least() -> None:
    accepts(changed(CREATION, new_account_name=AccountName("abc")))
    accepts(changed(CREATION, new_account_name=AccountName("a" * 32)))
    refuses(
        changed(CREATION, new_account_name=AccountName("ab"), creator=NO_NAME),
        "is_valid_create_account_name(name): Account name ab is invalid",
    )


def test_a_new_name_is_valid_and_so_is_its_creator() -> None:
    refuses(
        changed(CREATION, new_account_name=AccountName("ABC"), creator=NO_NAME),
        "is_valid_account_name(name): Account name ABC is invalid",
    )
    asks_for_names(CREATION, "creator")


def test_the_referrer_is_not_looked_at() -> None:
    accepts(changed(CREATION, referrer=NO_NAME))
    accepts(changed(CREATION, referrer=AccountName("A")))


def test_a_subaccount_is_created_by_its_account() -> None:
    accepts(changed(CREATION, creator=VIZ, new_account_name=AccountName("s1.viz")))
    accepts(changed(CREATION, creator=AccountName("s1.viz"), new_account_name=AccountName("t1.s1.viz")))
    refuses(
        changed(CREATION, creator=VIZ, new_account_name=AccountName("t1.s1.viz")),
        "is_valid_domain_name( name, creator ): Domain name t1.s1.viz is invalid, creator name viz",
    )


def test_the_price_is_tokens_and_delegated_shares() -> None:
    accepts(changed(CREATION, fee=tokens(0), delegation=shares(0)))
    refuses(
        changed(CREATION, fee=Asset(-1, TOKEN_SYMBOL + 1), delegation=tokens(1)),
        "is_asset_type(fee, TOKEN_SYMBOL): Account creation fee must be TOKEN_SYMBOL",
    )
    refuses(
        changed(CREATION, fee=tokens(-1), delegation=tokens(-1)),
        "is_asset_type(delegation, SHARES_SYMBOL): Delegation must be SHARES",
    )
    refuses(
        changed(CREATION, fee=tokens(-1), delegation=shares(-1)),
        "fee.amount >= 0: Account creation fee cannot be negative",
    )
    refuses(
        changed(CREATION, delegation=shares(-1)),
        "delegation.amount >= 0: Delegation cannot be negative",
    )


def test_members_of_new_authorities_have_valid_names() -> None:
    for role in ("master", "active", "regular"):
        refuses(changed(CREATION, **{role: OF_NOBODY}), "is_valid_account_name(item.first): ")
        accepts(changed(CREATION, **{role: OPEN}))


def test_the_creator_signs_for_a_creation() -> None:
    assert CREATION.authorities() == active(AccountName("a65125847"))


def test_the_master_authority_changes_itself_and_the_active_one_the_rest() -> None:
    assert NEW_MASTER.authorities() == master(AccountName("a311599"))
    assert NEW_FRIENDS.authorities() == active(AccountName("lot10"))


def test_the_regular_authority_changes_metadata() -> None:
    assert METADATA.authorities() == regular(VIZ)
