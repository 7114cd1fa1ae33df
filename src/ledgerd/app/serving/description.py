"""The methods of an application as an OpenRPC document, and its state as metrics."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from ledgerd.app.declaring.application import Application
from ledgerd.app.feeding.progress import FeedProgress
from ledgerd.app.serving.calling import MethodSignature

OPENRPC = "1.3.2"


def openrpc_of(application: Application, methods: Iterable[MethodSignature]) -> bytes:
    document = {
        "openrpc": OPENRPC,
        "info": {"title": application.name, "version": str(application.version)},
        "methods": [
            {
                "name": each.name,
                "summary": each.summary,
                "params": [
                    {"name": name, "required": name not in each.optional, "schema": _schema(kind)}
                    for name, kind in each.types.items()
                ],
                "result": {"name": "result", "schema": _schema(each.result)},
            }
            for each in methods
        ],
    }
    return msgspec.json.encode(document)


def _schema(kind: Any) -> dict[str, Any]:  # noqa: ANN401 - any type
    try:
        return msgspec.json.schema(kind)
    except TypeError:
        return {}  # a row of SQLAlchemy's, or what else has no schema


def metrics_of(application: Application, progress: FeedProgress, calls: int) -> bytes:
    """The text that Prometheus reads."""
    figures = {
        "block_number": progress.number,
        "head_block_number": progress.head,
        "irreversible_block_number": progress.irreversible,
        "blocks_behind": progress.behind,
        "reversible_blocks": progress.reversible,
        "is_failing": int(bool(progress.failing)),
        "blocks_total": progress.blocks,
        "operations_total": progress.operations,
        "undone_blocks_total": progress.undone,
        "forks_total": progress.forks,
        "failures_total": progress.failures,
        "calls_total": calls,
    }
    lines = []
    for name, value in figures.items():
        kind = "counter" if name.endswith("_total") else "gauge"
        full = f"ledgerd_app_{name}"
        lines.append(f'# TYPE {full} {kind}\n{full}{{application="{application.name}"}} {value}\n')
    return "".join(lines).encode()
