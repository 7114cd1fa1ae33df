"""What a wallet remembers of the chain that it uses, in a file beside its own: the chain's id and the highest head."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ledgerd.wallet.errors import WalletError
from ledgerd.wallet.whole_file import replace_whole

LARGEST = 4_096


class SeenChain(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The chain that the wallet has used so far."""

    chain_id: str = ""
    """Hex; empty until a node was asked."""
    head: int = 0
    at: float = 0
    """The time of this machine's clock when that head was seen."""


def file_of(wallet: Path) -> Path:
    return wallet.with_name(f"{wallet.name}.chain")


def recall(wallet: Path) -> SeenChain:
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
    replace_whole(file_of(wallet), msgspec.json.encode(seen))


def forget(wallet: Path) -> None:
    file_of(wallet).unlink(missing_ok=True)
