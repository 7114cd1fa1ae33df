"""Writes the examples that `openrpc.json` shows: of each method the request and the answer that `docs/api.md` shows."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from scripts.generate_api_docs import LONGEST, ROOT, best_exchanges

EXAMPLES: Path = ROOT / "src" / "ledgerd" / "rpc" / "describe" / "recorded_examples.json"


def examples() -> str:
    """One on a line, in the order of their names; answers that are too long to read are none."""
    lines = []
    for name, exchange in sorted(best_exchanges().items()):
        if len(exchange.answer) > LONGEST:
            continue
        request, answer = json.loads(exchange.request), json.loads(exchange.answer)
        chain, _, file = exchange.source.partition("/")
        height = int(file.rpartition("-")[2]) if file else 0
        example = {"method": name, "chain": chain, "height": height}
        shown = example | {"params": request["params"][2], "result": answer["result"]}
        lines.append(json.dumps(shown, ensure_ascii=False, separators=(",", ":")))
    body = ",\n".join(lines)
    return f"[\n{body}\n]\n"


def main() -> int:
    """Write the file."""
    EXAMPLES.write_text(examples(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
