"""Any history of a rolling log is that of a list of blocks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from ledgerd.chain.log.rolling import RollingBlockLog, RollingBlockLogReader
from tests.chain.log.test_rolling import DATA, INDEX, STEPS_OF_A_TRUNCATION, Crash, crash_after, holds
from tests.chain.logged_blocks import packed_block, unsynced


@pytest.fixture(autouse=True, scope="module")
def _spare_the_disk() -> Iterator[None]:
    with unsynced():
        yield


class Histories(RuleBasedStateMachine):
    """Appends, truncations, resets, openings and crashes, against a list of blocks and the number of the first."""

    def __init__(self) -> None:
        super().__init__()
        self.place = TemporaryDirectory()
        self.folder = Path(self.place.name)
        self.first = 1
        self.model: list[bytes] = []
        self.log = RollingBlockLog.open(self.folder)
        self.reader = RollingBlockLogReader.open(self.folder)

    @rule(first=st.integers(1, 900_000_000), validators=st.lists(st.binary(min_size=1, max_size=200), max_size=6))
    def append(self, first: int, validators: list[bytes]) -> None:
        for validator in validators:
            if not self.model:
                self.first = first
            number = self.first + len(self.model)
            self.model.append(packed_block(number, validator))
            self.log.append(number, self.model[-1])

    @rule(kept=st.integers(-1, 12))
    def truncate(self, kept: int) -> None:
        self.log.truncate_before(self.first + len(self.model) - kept)
        if 0 < kept < len(self.model):
            self.first += len(self.model) - kept
            self.model = self.model[-kept:]

    @rule(kept=st.integers(1, 5), step=st.integers(0, STEPS_OF_A_TRUNCATION - 1))
    def crash_in_truncation(self, kept: int, step: int) -> None:
        if kept >= len(self.model):
            return
        with pytest.MonkeyPatch.context() as patch:
            crash_after(patch, step)
            with pytest.raises(Crash):
                self.log.truncate_before(self.first + len(self.model) - kept)
        if step >= 3:
            self.first += len(self.model) - kept
            self.model = self.model[-kept:]
        self.log.close()
        self.log = RollingBlockLog.open(self.folder)

    @rule()
    def reset(self) -> None:
        self.log.reset()
        self.model = []

    @rule()
    def open_again(self) -> None:
        self.log.close()
        self.log = RollingBlockLog.open(self.folder)
        assert self.log.repaired[2:] == (0, 0)

    @rule(chance=st.data())
    def crash(self, chance: st.DataObject) -> None:
        self.log.close()
        data, index = (self.folder / DATA).read_bytes(), (self.folder / INDEX).read_bytes()
        size = chance.draw(st.integers(0, len(data)), "bytes of data that are left")
        (self.folder / DATA).write_bytes(data[:size])
        left = chance.draw(st.integers(0, len(index)).map(lambda left: index[:left]) | st.binary(max_size=40), "index")
        (self.folder / INDEX).write_bytes(left)
        ends = accumulate(len(packed) + 8 for packed in self.model)
        self.model = self.model[: sum(end <= size for end in ends)]
        self.log = RollingBlockLog.open(self.folder)

    @invariant()
    def holds_the_blocks_of_the_model(self) -> None:
        holds(self.log, self.first, self.model)
        holds(self.reader, self.first, self.model)

    def teardown(self) -> None:
        self.log.close()
        self.reader.close()
        self.place.cleanup()


Histories.TestCase.settings = settings(max_examples=80, stateful_step_count=20)


TestAnyHistoryOfARollingLogIsThatOfAList = Histories.TestCase
