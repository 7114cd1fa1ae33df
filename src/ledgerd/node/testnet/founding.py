"""The first blocks of a local network, valid and in the past: so it has all hardforks when its nodes start."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from ledgerd.chain.chain import Chain
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.history.embedded.following import open_history
from ledgerd.history.settings import HISTORY_FOLDER, HistorySettings
from ledgerd.node.dev.founding import POCKET_MONEY, new_account, send
from ledgerd.node.testnet.plan import NetworkKeys
from ledgerd.producer.testnet_start import ABOUT, PUBLISHED_INITIATOR_KEY
from ledgerd.projections.following import follow
from ledgerd.projections.key_references import KeyReferences
from ledgerd.protocol.constants import BLOCK_INTERVAL, COMMITTEE_ACCOUNT, INITIATOR_ACCOUNT
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.money.transfers import Transfer, TransferToVesting
from ledgerd.protocol.operations.validators import AccountValidatorVote, ValidatorUpdate
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.names import AccountName
from ledgerd.state import Space
from ledgerd.state.files.lock import LOCK_FILE

ROUNDS = 18
"""One for the committee, one to make the validators known, one for each hardfork, and one more."""

ALL_STAKE = tokens(30_000_000_000)
LARGEST_STAKE = tokens(1_000_000_000)
SMALL = Space(initial=128 << 20, min_free=32 << 20, increment=128 << 20)


def founding_seconds(keys: NetworkKeys) -> int:
    return ROUNDS * keys.places * BLOCK_INTERVAL


class Founding:
    """A chain that is being founded; its blocks become durable at the end."""

    def __init__(self, chain: Chain, keys: NetworkKeys) -> None:
        self._chain = chain
        self._names = [AccountName(name) for name in keys.validators]
        self._keys = {name: keys.key_of(name) for name in self._names}
        self._keys[COMMITTEE_ACCOUNT] = PrivateKey.from_wif(keys.committee)
        self._initiator = PrivateKey.from_wif(PUBLISHED_INITIATOR_KEY)
        self._stake = tokens(min(LARGEST_STAKE.amount, ALL_STAKE.amount // (len(self._names) + 1)))

    def run(self, begin: int, end: int) -> None:
        chain = self._chain
        steps = {1: self._endow, 2: self._declare}
        for number, when in enumerate(range(begin, end + 1, BLOCK_INTERVAL), start=1):
            name = chain.scheduled_at(chain.slot_at(when))
            chain.push_block(chain.generate_block(when, name, self._keys[name]), commit=False).or_raise()
            steps.get(number, lambda: None)()
        chain.commit()

    def _endow(self) -> None:
        send(self._chain, self._initiator, TransferToVesting(INITIATOR_ACCOUNT, INITIATOR_ACCOUNT, self._stake))
        for name in self._names:
            send(self._chain, self._initiator, *self._account(name))
        for each in self._chain.network.genesis_accounts:
            receiver = AccountName(each.name)
            send(self._chain, self._initiator, Transfer(INITIATOR_ACCOUNT, receiver, tokens(POCKET_MONEY), ""))

    def _account(self, name: AccountName) -> Iterator[Operation]:
        yield new_account(name, self._keys[name].public)
        yield TransferToVesting(INITIATOR_ACCOUNT, name, self._stake)

    def _declare(self) -> None:
        for name in self._names:
            key = self._keys[name]
            vote = AccountValidatorVote(name, name, approve=True)
            send(self._chain, key, ValidatorUpdate(name, ABOUT, key.public), vote)


def found(folder: Path, network: ChainParameters, keys: NetworkKeys, end: int) -> None:
    with Chain.open(folder, network, clock=lambda: 0.0, space=SMALL) as chain:
        follow(chain, [KeyReferences()])
        with open_history(chain, folder / HISTORY_FOLDER, HistorySettings(), SMALL):
            Founding(chain, keys).run(end - founding_seconds(keys), end)
        _check(chain, keys)


def _check(chain: Chain, keys: NetworkKeys) -> None:
    last = chain.network.last_hardfork.number - (1 if keys.hardfork_after else 0)
    scheduled = {name for name in chain.scheduled if name in keys.validators}
    absent = [name for name in keys.validators if chain.validator(AccountName(name)) is None]
    if not chain.hardfork(last) or len(scheduled) != keys.places or absent:
        raise OperatorError(
            f"the network could not be founded: hardfork {chain.last_hardfork} of {last}, "
            f"{len(scheduled)} of {keys.places} places taken, {len(absent)} validators lost"
        )


def copy_chain(source: Path, target: Path) -> None:
    try:
        for folder in (STATE_FOLDER, HISTORY_FOLDER):
            shutil.copytree(source / folder, target / folder, ignore=shutil.ignore_patterns(LOCK_FILE, "lock.mdb"))
    except shutil.Error as problem:
        (_, _, why), *_ = problem.args[0]  # of the first file
        raise OperatorError(f"the chain cannot be copied: {why}") from problem
