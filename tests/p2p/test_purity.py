"""The peer protocol is handed time, network and entropy; only its driver touches sockets."""

from __future__ import annotations

from tests.house.source_tree import PACKAGE, ROOT, imports, python_files
from tests.house.test_purity import FORBIDDEN

DRIVER = "driver.py"


def test_only_the_driver_reaches_for_sockets_and_nothing_for_clocks() -> None:
    src = ROOT / "src"
    reached = {
        (path.name, wanted.target.split(".")[0])
        for path in python_files(src / PACKAGE / "p2p")
        for wanted in imports(path, src)
        if wanted.target.split(".")[0] in FORBIDDEN and wanted.target != "random.Random"
    }
    assert reached == {(DRIVER, "asyncio"), (DRIVER, "socket")}
