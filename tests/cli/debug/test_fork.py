"""`ledgerd debug fork`: where two chains part, in logs, in data directories, and asked of nodes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.cli import main
from ledgerd.cli.debug.blocks import StoredBlocks
from ledgerd.cli.debug.fork import last_common
from tests.cli.debug.chains import log_of, node_with, parted, recorded


def test_the_last_common_block_of_two_logs_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chain = recorded(40)
    other = parted(chain, 25, 38)

    assert main(["debug", "fork", log_of(tmp_path / "a", chain), log_of(tmp_path / "b", other)]) == 1
    text = capsys.readouterr().out
    assert f"last common block: 25 {chain[24].id.hex()}" in text
    assert f"then in {tmp_path / 'a'}: 26 {chain[25].id.hex()}" in text
    assert f"then in {tmp_path / 'b'}: 26 {other[25].id.hex()}" in text
    assert "by mallory" in text


@pytest.mark.parametrize("at", [0, 1, 39])
def test_nodes_are_asked_by_json_rpc(at: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chain = recorded(40)
    other = parted(chain, at, 40)

    with node_with(chain) as address:
        assert main(["debug", "fork", address, log_of(tmp_path / "b", other)]) == 1
    text = capsys.readouterr().out
    assert (f"last common block: {at} " in text) == (at > 0)
    assert f"then in {address}: {at + 1} {chain[at].id.hex()}" in text


def test_a_node_without_old_blocks_is_searched_from_its_first(capsys: pytest.CaptureFixture[str]) -> None:
    chain = recorded(40)
    with node_with(chain, first=17) as pruned, node_with(parted(chain, 30, 40)) as other:
        assert main(["debug", "fork", pruned, other]) == 1
        assert "last common block: 30 " in capsys.readouterr().out
    with node_with(chain, first=17) as pruned, node_with(parted(chain, 10, 40)) as other:
        assert main(["debug", "fork", pruned, other]) == 1
        assert "part at block 17 or before" in capsys.readouterr().out


def test_chains_that_do_not_part_are_said_not_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chain = recorded(40)
    longer, shorter, copied = (
        log_of(tmp_path / name, blocks) for name, blocks in (("a", chain), ("b", chain[:30]), ("c", chain))
    )

    assert main(["debug", "fork", longer, shorter]) == 0
    assert "no fork: one chain is the beginning of the other" in capsys.readouterr().out
    assert main(["debug", "fork", longer, copied]) == 0
    assert "no fork: both have the same head" in capsys.readouterr().out


def test_a_data_directory_is_searched_with_its_reversible_blocks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    chain = recorded(60)
    data = tmp_path / "data"
    data.mkdir()
    (data / "config.ini").write_text("chain = testnet\nshared-file-size = 64M\n")
    main(["replay", "--block-log", log_of(tmp_path / "a", chain), "--data-dir", str(data)])
    capsys.readouterr()

    assert main(["debug", "fork", str(data), log_of(tmp_path / "b", parted(chain, 58, 60))]) == 1
    text = capsys.readouterr().out
    assert f"{data}: head block 60" in text
    assert "last common block: 58 " in text


def test_what_does_not_answer_is_named_without_a_traceback(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = log_of(tmp_path / "a", recorded(3))
    with node_with(recorded(3)) as address:
        gone = address
    for place in (gone, str(tmp_path), str(tmp_path / "none"), "http://127.0.0.1:wrong", log):
        assert main(["debug", "fork", place, log]) == 1
        error = capsys.readouterr().err
        assert error.startswith("ledgerd: ")
        assert "Traceback" not in error


@given(common=st.integers(0, 200), first=st.integers(1, 60), extra=st.tuples(st.integers(1, 60), st.integers(1, 60)))
def test_the_search_finds_a_fork_at_any_block(common: int, first: int, extra: tuple[int, int]) -> None:
    chain, other = (_Numbered(common, name, common + more) for name, more in zip("ab", extra, strict=True))
    highest = min(chain.head, other.head)
    first = min(first, highest)

    found = last_common(chain.blocks(first), other.blocks(1), first, highest)

    assert found == max(common, first - 1)
    assert chain.blocks(first).first() == first


class _Numbered:
    """A chain whose ids say nothing but whether they are common."""

    def __init__(self, common: int, name: str, head: int) -> None:
        self.common, self.name, self.head = common, name, head

    def blocks(self, first: int) -> StoredBlocks:
        return StoredBlocks(self.name, self.head, lambda number: self._block(number) if number >= first else None)

    def _block(self, number: int) -> Any:
        class Known:
            id = (number, "" if number <= self.common else self.name)

        return Known()
