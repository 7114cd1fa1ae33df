"""`docs/api.md` says what the declarations say, and shows what was recorded."""

from __future__ import annotations

import re

from scripts.generate_api_docs import DOCUMENT, EVERY_API, best_exchanges, called_by, with_methods

WITHOUT_ANSWER = {
    "database_api.get_required_signatures",
    "database_api.get_potential_signatures",
    "database_api.verify_account_authority",
    "database_api.get_irreversible_block_header",
    "database_api.set_block_applied_callback",
    "database_api.get_database_info",
    "network_broadcast_api.broadcast_transaction_synchronous",
    "network_broadcast_api.broadcast_transaction_with_callback",
    "network_broadcast_api.broadcast_block",
    "invite_api.get_invite_by_key",
    "paid_subscription_api.get_paid_subscription_status",
    "operation_history.get_transaction",
}
"""Of these no node was recorded with a result."""


def test_the_document_is_what_the_declarations_make() -> None:
    document = DOCUMENT.read_text(encoding="utf-8")

    assert document == with_methods(document), "run `make docs`"


def test_every_method_has_a_heading_or_a_newer_name() -> None:
    document = DOCUMENT.read_text(encoding="utf-8")

    for api in EVERY_API:
        for method in api:
            assert f"\n### {method.name}\n" in document or f"| `{method.name}` | [{method.alias_of}]" in document


def test_every_link_within_the_document_leads_somewhere() -> None:
    document = DOCUMENT.read_text(encoding="utf-8")
    headings = {line.lstrip("# ").lower().replace(" ", "-") for line in document.splitlines() if line.startswith("#")}

    assert set(re.findall(r"\(#([^)]*)\)", document)) <= headings


def test_what_is_shown_is_recorded_where_there_is_something() -> None:
    best = best_exchanges()
    of_the_reference = {
        f"{api.name}.{method.name}"
        for api in EVERY_API
        for method in api
        if api.name not in {"dev_api", "node_api", "history_api", "state_api"} and not method.alias_of
    }

    assert of_the_reference - set(best) <= WITHOUT_ANSWER
    assert all(called_by(exchange) == name for name, exchange in best.items())
