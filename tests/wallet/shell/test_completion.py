"""What Tab offers: commands, options, fields of operations and names of accounts."""

from __future__ import annotations

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from ledgerd.wallet.arguments.every_command import command_parser
from ledgerd.wallet.shell.completion import WalletCompleter

NAMES = ("alice", "albert", "bob")


def offered(text: str) -> list[str]:
    """What would stand there, or in angle brackets what is asked for."""
    completer = WalletCompleter(command_parser(), lambda start: [each for each in NAMES if each.startswith(start)])
    found = completer.get_completions(Document(text), CompleteEvent(completion_requested=True))
    return [each.text or f"<{each.display_text}>" for each in found]


@pytest.mark.parametrize(
    ("text", "some"),
    [
        ("", {"transfer", "key", "unlock", "validator", "pm-place-bet"}),
        ("tran", {"transfer", "transfer-to-vesting"}),
        ("key ", {"new", "import", "list"}),
        ("validator ro", {"rotate"}),
        ("transfer --me", {"--memo"}),
        ("transfer alice bob 1.000 VIZ --", {"--memo", "--yes", "--json"}),
        ("transfer al", {"alice", "albert"}),
        ("transfer alice ", {"alice", "albert", "bob"}),
        ("transfer alice bob ", {"<AMOUNT>"}),
        ("transfer alice bob 1.000 VIZ --wait ", {"none", "block", "irreversible"}),
        ("show account b", {"bob"}),
        ("validator vote alice ", {"alice", "albert", "bob"}),
        ("award --initiator", set()),
        ("set-proxy a", {"alice", "albert"}),
        ("transfer alice bob '1.0", set()),
        ("nothing of the kind ", set()),
        ("transfer alice bob 1.000 VIZ ", set()),
    ],
)
def test_what_can_stand_there_is_offered(text: str, some: set[str]) -> None:
    found = set(offered(text))

    assert some <= found if some else not found
    assert all(each.startswith(text.rsplit(maxsplit=1)[-1]) for each in found if text and not text.endswith(" "))
