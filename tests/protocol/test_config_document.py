"""The answer of `get_config`, byte for byte as the reference gave it."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec
import pytest

from ledgerd.codec.json.text import dumps
from ledgerd.protocol.config_document import config_of
from ledgerd.protocol.networks.hardforks import known_until
from ledgerd.protocol.networks.parameters import MAINNET, NETWORKS, ChainParameters, chain_id_of
from tests.recorded import recorded_result

VECTORS = Path(__file__).resolve().parents[1] / "vectors"


def until_hardfork_13(network: ChainParameters) -> ChainParameters:
    return msgspec.structs.replace(network, hardforks=known_until(network.hardforks, 13))


@pytest.mark.parametrize("network", ["mainnet", "testnet"])
def test_the_document_of_version_3_2_0_is_the_recorded_one(network: str) -> None:
    recorded = (VECTORS / f"get_config-{network}.json").read_text(encoding="utf-8").rstrip("\n")

    assert dumps(config_of(until_hardfork_13(NETWORKS[network]))) == recorded


@pytest.mark.parametrize(("network", "file"), [("mainnet", "open-main15/api-1216"), ("testnet", "open-pm/api-2027")])
def test_the_document_of_version_4_1_0_is_the_recorded_one(network: str, file: str) -> None:
    assert dumps(config_of(NETWORKS[network])) == recorded_result(file, "get_config")


def test_the_answer_of_version_3_2_0_on_mainnet_has_the_known_hash() -> None:
    answer = f'{{"jsonrpc":"2.0","result":{dumps(config_of(until_hardfork_13(MAINNET)))},"id":1}}'

    assert len(answer) == 2112
    digest = "e2e6b2ed788c2c01a7c766ddb4bfc4a21364f491cf64e11f007c3032c8392261"
    assert hashlib.sha256(answer.encode()).hexdigest() == digest


def test_the_document_has_56_keys() -> None:
    assert len(config_of(MAINNET)) == 56


def test_a_private_network_tells_what_it_chose() -> None:
    private = msgspec.structs.replace(
        MAINNET, name="VILLAGE", chain_id=chain_id_of("VILLAGE"), max_top_validators=4, max_support_validators=3
    )

    document = config_of(private)

    assert document["CHAIN_NAME"] == "VILLAGE"
    assert document["CHAIN_ID"] == chain_id_of("VILLAGE").hex()
    assert document["CHAIN_MAX_VALIDATORS"] == 7
