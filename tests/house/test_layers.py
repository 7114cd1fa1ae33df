"""The import graph: each room imports only from floors below its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.house.source_tree import KNOWS_ONLY, LEVEL, PACKAGE, ROOT, imports, python_files, write_tree


def room_of(module: str) -> str:
    """The room of a full module name; empty for the package itself and for what is not ours."""
    package, _, rest = module.partition(".")
    return rest.partition(".")[0] if package == PACKAGE else ""


def climbing_imports(src: Path) -> list[str]:
    """Every import that does not go down, and every file that stands in no room of the house."""
    found = []
    package = src / PACKAGE
    for path in python_files(package):
        inside = path.relative_to(package)
        room = inside.parts[0] if len(inside.parts) > 1 else ""
        if room not in LEVEL and inside.parts != ("__init__.py",):
            found.append(f"{inside}: no such room")
            continue
        level = LEVEL.get(room, -1)
        for wanted in imports(path, src):
            target = room_of(wanted.target)
            is_known = target in KNOWS_ONLY.get(room, LEVEL)
            if target in LEVEL and target != room and (LEVEL[target] >= level or not is_known):
                found.append(f"{inside}:{wanted.line}: {room or PACKAGE} imports {target}")
    return found


def test_every_import_goes_down() -> None:
    assert climbing_imports(ROOT / "src") == []


def test_the_rooms_that_stand_are_read() -> None:
    assert any((ROOT / "src" / PACKAGE / room).is_dir() for room in LEVEL)


@pytest.mark.parametrize(
    ("file", "text", "fault"),
    [
        ("codec/binary.py", "import ledgerd.protocol.types.names", "codec imports protocol"),
        ("pricing/lmsr.py", "from ledgerd.protocol.types.assets import Asset", "pricing imports protocol"),
        ("pricing/lmsr.py", "import ledgerd.codec.types.numbers", "pricing imports codec"),
        ("codec/types/numbers.py", "from ledgerd.pricing import widths", "codec imports pricing"),
        ("protocol/blocks/block.py", "from ledgerd.chain import forks", "protocol imports chain"),
        ("protocol/blocks/block.py", "from ledgerd import chain", "protocol imports chain"),
        ("protocol/operations/vote.py", "from ...state import store", "protocol imports state"),
        ("state/__init__.py", "from .. import chain", "state imports chain"),
        ("state/objects/__init__.py", "from ...chain import forks", "state imports chain"),
        ("chain/steps.py", "def step():\n    from ledgerd.node import wiring", "chain imports node"),
        ("chain/steps.py", "if TYPE_CHECKING:\n    import ledgerd.rpc", "chain imports rpc"),
        ("chain/steps.py", "importlib.import_module('ledgerd.p2p.shared.peer')", "chain imports p2p"),
        ("codec/binary.py", "import ledgerd.supervision", "codec imports supervision"),
        ("protocol/blocks/block.py", "from ledgerd.supervision import tasks", "protocol imports supervision"),
        ("state/store.py", "from ..supervision import policy", "state imports supervision"),
        ("chain/chain.py", "import ledgerd.supervision.work", "chain imports supervision"),
        ("supervision/work.py", "from ledgerd.protocol.errors import OperatorError", "supervision imports protocol"),
        ("supervision/work.py", "import ledgerd.node", "supervision imports node"),
        ("rpc/api/blocks.py", "import ledgerd.history", "rpc imports history"),
        ("history/store.py", "from ledgerd.rpc import server", "history imports rpc"),
        ("p2p/driver.py", "from ..producer import safety", "p2p imports producer"),
        ("producer/duty.py", "import ledgerd.p2p", "producer imports p2p"),
        ("snapshot/serve.py", "import ledgerd.p2p", "snapshot imports p2p"),
        ("wallet/node/client.py", "import ledgerd.rpc.call", "wallet imports rpc"),
        ("wallet/keys/keeper.py", "from ledgerd.chain import forks", "wallet imports chain"),
        ("wallet/keys/keeper.py", "from ledgerd.state.store import Store", "wallet imports state"),
        ("node/main.py", "import ledgerd.cli.main", "node imports cli"),
        ("__init__.py", "from ledgerd import codec", "ledgerd imports codec"),
        ("utils.py", "", "no such room"),
        ("plumbing/pipes.py", "", "no such room"),
    ],
)
def test_an_import_that_climbs_is_found(tmp_path: Path, file: str, text: str, fault: str) -> None:
    src = write_tree(tmp_path, {f"{PACKAGE}/{file}": text})

    faults = climbing_imports(src)

    assert len(faults) == 1
    assert fault in faults[0]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("cli/main.py", "from ledgerd.node import wiring\nimport ledgerd.codec.binary"),
        ("rpc/api/blocks.py", "from ..server import serve\nfrom ...protocol import block"),
        ("rpc/api/__init__.py", "from . import blocks\nfrom .. import server"),
        ("chain/steps.py", "from ledgerd.chain.evaluators import transfer\nimport protocol, json"),
        ("chain/evaluators/markets/bets.py", "from ledgerd.pricing import lmsr"),
        ("cli/main.py", "from ledgerd import __version__"),
        ("rpc/workers.py", "from ledgerd.supervision.processes import Child"),
        ("supervision/work.py", "from ledgerd.supervision.health import Health\nimport asyncio"),
    ],
)
def test_an_import_that_goes_down_is_no_fault(tmp_path: Path, file: str, text: str) -> None:
    assert climbing_imports(write_tree(tmp_path, {f"{PACKAGE}/{file}": text})) == []
