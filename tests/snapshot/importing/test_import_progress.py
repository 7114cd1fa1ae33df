"""How far an import is, in the log."""

from __future__ import annotations

import logging

import pytest

from ledgerd.snapshot.file.read import RECORDS_A_STEP
from ledgerd.snapshot.importing.import_progress import ImportProgress


def test_the_end_of_an_import_is_told(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    line = ImportProgress()
    line.at(RECORDS_A_STEP, 5 * RECORDS_A_STEP)
    line.at(5 * RECORDS_A_STEP, 5 * RECORDS_A_STEP)

    assert caplog.records[-1].getMessage().startswith("importing: record 5,000 of 5,000 (100 %), ")
