from __future__ import annotations

from pathlib import Path

import pytest

from tests.node.configurations import COMMITTEE_WIF, problems, read


def test_an_unknown_option_brings_the_nearest_one(tmp_path: Path) -> None:
    assert problems(tmp_path, "\np2p-endpont = 0.0.0.0:2001") == [
        "FILE:2: p2p-endpont: there is no such option; the nearest one is p2p-endpoint"
    ]


def test_names_of_options_are_case_sensitive_and_whole(tmp_path: Path) -> None:
    assert problems(tmp_path, "Plugin = p2p\nshared-file = 4G") == [
        "FILE:1: Plugin: there is no such option; the nearest one is plugin",
        "FILE:2: shared-file: there is no such option; the nearest one is shared-file-dir",
    ]


def test_an_option_of_the_command_line_alone_is_refused_in_the_file(tmp_path: Path) -> None:
    assert problems(tmp_path, "replay-blockchain = true") == [
        (
            "FILE:1: replay-blockchain is an option of the command line alone: remove it here, and start with "
            "--replay-blockchain"
        )
    ]


def test_an_option_behind_a_section_is_refused(tmp_path: Path) -> None:
    assert problems(tmp_path, "[log.console_appender.stderr]\nstream = std_error\nchain = testnet") == [
        "FILE:3: chain stands in section [log.console_appender.stderr]: move it above the first section of the file"
    ]


def test_a_section_that_is_not_known_is_refused(tmp_path: Path) -> None:
    assert problems(tmp_path, "[p2p]\nendpoint = a:1") == [
        "FILE:2: there is no section [p2p]; there are [log.console_appender.NAME] and [logger.NAME]"
    ]


def test_a_wrong_value_is_told_with_its_line_and_with_what_to_write(tmp_path: Path) -> None:
    assert problems(tmp_path, "shared-file-size = 4X") == [
        (
            "FILE:1: shared-file-size = 4X: is not a size. It takes bytes: digits, then nothing or one of K M G T P E "
            "Z Y for powers of 1024 (KB, MB and so on: of 1000), for example: shared-file-size = 2G"
        )
    ]


def test_a_wrong_value_on_the_command_line_is_told_as_it_was_typed(tmp_path: Path) -> None:
    assert problems(tmp_path, "", p2p_endpoint=("localhost:1",)) == [
        (
            "command line: --p2p-endpoint localhost:1: names the host localhost, where only a numeric address can be "
            "listened on. It takes an IP address of this machine and a port, for example: --p2p-endpoint 0.0.0.0:2001"
        )
    ]


@pytest.mark.parametrize("value", ["33%", "0x10", ""])
def test_the_vectors_of_wrong_numbers(tmp_path: Path, value: str) -> None:
    (problem,) = problems(tmp_path, f"required-participation = {value}")

    assert problem.startswith(f"FILE:1: required-participation = {value}".rstrip() + ": is not a whole number")


def test_the_vector_of_a_number_below_zero(tmp_path: Path) -> None:
    assert read(tmp_path, "snapshot-every-n-blocks = -1").snapshot.every_n_blocks == 4294967295


def test_an_option_given_twice_is_refused_in_the_words_of_the_reference(tmp_path: Path) -> None:
    assert problems(tmp_path, "p2p-endpoint = 0.0.0.0:1\n\np2p-endpoint = 0.0.0.0:2") == [
        "FILE:3: option 'p2p-endpoint' cannot be specified more than once, and stands in line 1 too: keep one of them"
    ]
    assert problems(tmp_path, "", chain=("testnet", "mainnet")) == [
        "command line: option 'chain' cannot be specified more than once: keep one of them"
    ]


def test_an_invalid_line_is_told_with_its_number(tmp_path: Path) -> None:
    assert problems(tmp_path, "chain = testnet\nplugin chain") == [
        (
            "FILE:2: the options configuration file contains an invalid line 'plugin chain': write `name = value`, or "
            "`#` before a comment"
        )
    ]


def test_a_secret_is_never_repeated(tmp_path: Path) -> None:
    wrong = COMMITTEE_WIF[:-1]
    text = f'private-key = {wrong}\nemergency-private-key = {wrong}\nvalidator-guard-validator = ["a","{wrong}","x"]'

    found = problems(tmp_path, text, private_key=(wrong,))

    assert len(found) == 4
    assert wrong not in "".join(found)
    assert found[0].startswith("command line: --private-key: is not a private key in WIF.")
    assert found[1].startswith("FILE:1: private-key: is not a private key in WIF.")


def test_an_empty_private_key_is_refused(tmp_path: Path) -> None:
    assert len(problems(tmp_path, "private-key =")) == 1


def test_a_wrong_value_of_what_means_nothing_is_refused_too(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, "single-write-thread = perhaps")

    assert problem.startswith("FILE:1: single-write-thread = perhaps: is neither true nor false.")


def test_all_faults_are_told_at_once_and_each_of_them_once(tmp_path: Path) -> None:
    text = "plugn = x\nplugin = nothing\nwebserver-thread-pool-size = 0\n[logger.default]\nlevel = loud\nappenders ="

    assert [problem.partition(": ")[0] for problem in problems(tmp_path, text)] == [
        "FILE:1",
        "FILE:5",
        "FILE:2",
        "FILE:3",
    ]


def test_a_file_that_cannot_be_read_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "folder.ini").mkdir()

    (problem,) = problems(tmp_path, "", config=("../folder.ini",))

    assert "cannot be read: Is a directory" in problem
