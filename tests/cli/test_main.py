from __future__ import annotations

from importlib.metadata import version

import pytest

from ledgerd.cli import main


def test_the_version_is_that_of_the_installed_package(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["--version"])

    assert stopped.value.code == 0
    assert capsys.readouterr().out == f"ledgerd {version('ledgerd')}\n"


def test_without_arguments_it_prints_what_is_built(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert capsys.readouterr().out.startswith(f"ledgerd {version('ledgerd')}: a full node for the VIZ Ledger")


def test_an_unknown_argument_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["--coffee"])

    assert stopped.value.code == 2
    assert "--coffee" in capsys.readouterr().err
