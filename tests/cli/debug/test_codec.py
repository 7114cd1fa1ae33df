"""`ledgerd debug codec`: the generated functions of a type, printed."""

from __future__ import annotations

import pytest

from ledgerd.cli import main


@pytest.mark.parametrize("name", ["Transfer", "account", "SignedHeader"])
def test_the_functions_of_a_type_are_printed_in_all_directions(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["debug", "codec", name]) == 0

    text = capsys.readouterr().out
    assert [text.lower().count(f"def {word}_{name.lower()}(") for word in ("read", "write", "print", "show")] == [1] * 4
    compile(text, "printed", "exec")


def test_one_direction_can_be_printed_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["debug", "codec", "Transfer", "--direction", "print"]) == 0

    text = capsys.readouterr().out
    assert '"from":{t1},"to":{t2},"amount":{t3},"memo":{t4}' in text
    assert text.count("def ") == 1


def test_an_unknown_type_is_said_to_be_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["debug", "codec", "Tranfser"]) == 1
    assert "there is no type Tranfser" in capsys.readouterr().err
