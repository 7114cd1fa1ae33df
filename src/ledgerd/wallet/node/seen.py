"""What a wallet remembers of the chain that it uses, in a file beside its own: the chain's id and the highest head."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from ledgerd.wallet.errors import WalletError

LARGEST = 4_096


class SeenChain(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The chain that the wallet has used so far."""

    chain_id: str = ""
    """Hex; empty until a node was asked."""
    head: int = 0


def file_of(wallet: Path) -> Path:
    """Where it is remembered."""
    return wallet.with_name(f"{wallet.name}.chain")


def recall(wallet: Path) -> SeenChain:
    """What is remembered, or nothing yet."""
    path = file_of(wallet)
    try:
        with path.open("rb") as file:
            found = msgspec.json.decode(file.read(LARGEST), type=SeenChain)
            bytes.fromhex(found.chain_id)
            return found
    except FileNotFoundError:
        return SeenChain()
    except OSError as problem:
        raise WalletError(f"{path} cannot be read: {problem.strerror}") from problem
    except (msgspec.MsgspecError, ValueError):
        raise WalletError(f"{path} is damaged: remove it with `ledgerd wallet forget-chain`") from None


def remember(wallet: Path, seen: SeenChain) -> None:
    """Write it, as a whole; where there is no wallet, nothing is remembered."""
    if not wallet.exists():
        return
    path = file_of(wallet)
    fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        fresh.write_bytes(msgspec.json.encode(seen))
        fresh.replace(path)
    except OSError as problem:
        raise WalletError(f"{path} cannot be written: {problem.strerror}") from problem


def forget(wallet: Path) -> None:
    """Remember nothing: the next node decides which chain the wallet uses."""
    file_of(wallet).unlink(missing_ok=True)
