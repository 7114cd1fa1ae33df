"""The applications in `examples/`, loaded for the accounts that recorded chains have."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

from ledgerd.app.declaring.application import Application
from ledgerd.app.declaring.loading import load_application

FOLDER = Path(__file__).parents[2] / "examples"

NAMES = {"EXCHANGE": "committee", "MAKER": "pm09openpm"}

CHAINS: Mapping[str, str] = {"awards": "open-1", "deposits": "open-1", "market_maker": "open-pm"}


def example(name: str) -> Application:
    with patch.dict("os.environ", NAMES):
        return load_application(FOLDER / f"{name}.py")


def without_tip(found: dict[str, list[tuple[Any, ...]]]) -> dict[str, list[tuple[Any, ...]]]:
    """The tables of the application alone, with the id of the last block."""
    return {**found, "_ledgerd_blocks": found["_ledgerd_blocks"][-1:]}
