"""What keeps a recording from harm: it refuses the main network, another chain, and what it cannot read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from ledgerd.cli.main import main
from ledgerd.client.asked import AskedNode, NodeSilent
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.networks.parameters import MAINNET, TESTNET
from ledgerd.recording import writing
from ledgerd.recording.journal import RecordingJournal
from ledgerd.recording.network import ATTEMPTS, LIFETIME, RecordedNetwork, RecordingRefused
from ledgerd.recording.playing import Playing, play
from ledgerd.recording.preparing import key_of_player
from ledgerd.recording.recording import Recording, chosen_acts
from ledgerd.recording.steps import Cast, LookUp, Play, Scenario, SendOperations
from ledgerd.recording.writing import Writing
from tests.compare.doubles import listening

CAST = Cast("r1", "viz")
TRANSFER = ("transfer", {"from": "r1bettor", "to": "viz", "amount": "1.000 VIZ"})


class Double:
    """A node of answers that a test chooses: its head, and what became of transactions."""

    def __init__(self, chain_id: bytes = TESTNET.chain_id) -> None:
        self.config = {"CHAIN_VERSION": "4.1.0", "CHAIN_ID": chain_id.hex()}
        self.number, self.seconds = 5, 15
        self.moves_by = 0
        self.sent: list[Any] = []
        self.taken: set[str] = set()
        self.refusal = ""

    def answer(self, body: bytes) -> tuple[int, bytes]:
        _, method, arguments = json.loads(body)["params"]
        found: Callable[..., Any] | None = getattr(self, method, None)
        if found is None:
            return 200, b'{"id":1,"error":{"code":-32601,"message":"Could not find method"}}'
        result = found(*arguments)
        error = {"message": self.refusal} if result is None and self.refusal else None
        return 200, json.dumps({"id": 1, **({"error": error} if error else {"result": result})}).encode()

    def get_config(self) -> Any:
        return self.config

    def get_dynamic_global_properties(self) -> Any:
        self.number += self.moves_by
        name = self.number.to_bytes(20, "big").hex()
        time = f"2026-01-01T00:{self.seconds // 60:02}:{self.seconds % 60:02}"
        return {"head_block_number": self.number, "head_block_id": name, "time": time}

    def broadcast_transaction(self, transaction: Any) -> Any:
        self.sent.append(transaction)
        return None if self.refusal else {}

    def get_transaction(self, name: str) -> Any:
        return {"block_num": 6} if name in self.taken else None


@contextmanager
def network_of(double: Double) -> Iterator[RecordedNetwork]:
    with listening(double.answer) as url, closing(AskedNode(url)) as node:
        yield RecordedNetwork(node, key_of_player)


def one_transfer(_cast: Cast) -> Play:
    yield SendOperations((TRANSFER,), ("r1bettor",))


ONE = Scenario("one", "", 3, one_transfer)


def test_the_main_network_is_refused() -> None:
    with pytest.raises(RecordingRefused, match="scenarios are for private ones"), network_of(Double(MAINNET.chain_id)):
        pass


def test_a_recording_goes_on_with_the_chain_that_it_was_begun_on(tmp_path: Path) -> None:
    RecordingJournal(tmp_path).add({"begun": {"chain": "ab", "prefix": "r1"}})

    with listening(Double().answer) as url, closing(AskedNode(url)) as node:
        recording = Recording(node, tmp_path, ("viz", PrivateKey.from_password("a", "b", "c")))
        with pytest.raises(OperatorError, match="a recording of another chain"):
            recording.run([], lambda _seconds: None, lambda _line: None)


def test_a_journal_of_something_else_is_not_gone_on_with(tmp_path: Path) -> None:
    (tmp_path / "journal.jsonl").write_text("a shopping list\n")

    with pytest.raises(OperatorError, match="a line that is not JSON"):
        RecordingJournal(tmp_path)


def test_a_refused_transaction_ends_the_recording_with_the_words_of_the_node(tmp_path: Path) -> None:
    double = Double()
    double.refusal = "Account does not have sufficient funds"
    with network_of(double) as network, pytest.raises(RecordingRefused, match="does not have sufficient funds"):
        Playing(ONE, CAST, network, RecordingJournal(tmp_path)).advance()


def test_what_was_signed_before_a_kill_is_not_sent_twice_and_after_its_end_anew(tmp_path: Path) -> None:
    double, waited = Double(), list[float]()
    with network_of(double) as network:
        Playing(ONE, CAST, network, RecordingJournal(tmp_path)).advance()
        resumed = Playing(ONE, CAST, network, RecordingJournal(tmp_path))
        assert not resumed.advance()
        assert len(double.sent) == 1

        double.seconds += LIFETIME + 1
        assert not resumed.advance()
        assert len(double.sent) == 2

        def next_block(seconds: float) -> None:
            waited.append(seconds)
            double.taken |= {network.signed([TRANSFER], ["r1bettor"]).id}

        play([resumed], network, next_block, lambda _line: None)
    assert resumed.is_done
    assert len(waited) == 1
    assert "transaction" in RecordingJournal(tmp_path).lines[-1]


def test_a_transaction_that_no_block_takes_ends_the_recording(tmp_path: Path) -> None:
    double = Double()
    with network_of(double) as network:
        playing = Playing(ONE, CAST, network, RecordingJournal(tmp_path))
        assert not playing.advance()
        double.seconds += LIFETIME + 1
        with pytest.raises(RecordingRefused, match="no block took transaction"):
            playing.advance()


def test_an_answer_is_a_fact_only_where_the_head_stood_still() -> None:
    double = Double()
    double.moves_by = 1
    with network_of(double) as network, pytest.raises(NodeSilent, match="moves faster than"):
        network.fact(1, "database_api", "get_config", [])
    assert double.number >= 5 + ATTEMPTS


def test_a_scenario_without_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(_cast: Cast) -> Play:
        while True:
            yield LookUp("database_api", "get_config")

    monkeypatch.setattr("ledgerd.recording.playing.MOST_STEPS", 20)
    with network_of(Double()) as network, pytest.raises(RecordingRefused, match="more than 20 steps"):
        Playing(Scenario("endless", "", 1, endless), CAST, network, RecordingJournal(tmp_path)).advance()


def test_a_chain_that_is_too_long_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "MOST_BLOCKS", 4)
    with network_of(Double()) as network, pytest.raises(RecordingRefused, match="at most 4 are recorded"):
        Writing(tmp_path, network, lambda _line: None).write(RecordingJournal(tmp_path))


def test_an_unknown_scenario_and_a_file_without_a_key_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(OperatorError, match="there is no scenario nothing, but agents-and-keys, "):
        chosen_acts(["nothing"])
    secret = "5JnotakeyofanyoneatallJnotakeyofanyoneatallJnotakeyofa"
    file = tmp_path / "key"
    file.write_text(secret)

    assert main(["record", "http://127.0.0.1:1", str(tmp_path / "out"), "--key-file", str(file)]) == 1
    assert main(["record", "http://127.0.0.1:1", str(tmp_path / "out"), "--key-file", str(tmp_path / "none")]) == 1

    told = capsys.readouterr().err
    assert "has no private key in WIF" in told
    assert "cannot be read" in told
    assert secret not in told


def test_a_chain_whose_clock_can_be_moved_is_moved_on_while_a_block_is_waited_for(tmp_path: Path) -> None:
    class Development(Double):
        def head(self) -> Any:
            return {}

        def move_time(self, seconds: int) -> Any:
            self.seconds += seconds
            self.taken |= {
                json.loads(line)["sent"][0] for line in (tmp_path / "journal.jsonl").read_text().splitlines()
            }
            return {}

    with network_of(Development()) as network:
        playing = Playing(ONE, CAST, network, RecordingJournal(tmp_path))
        play([playing], network, lambda _seconds: pytest.fail("nothing is waited for"), lambda _line: None)

    assert playing.is_done
