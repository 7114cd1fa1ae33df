"""The program of a node in a test: `python -m ledgerd.testing.running.program SETTINGS`. On its standard output it says
where it listens; it ends when its standard input does, so that it never outlives the tests.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ledgerd.node.config.configuration import Configuration
from ledgerd.node.dev.settings import dev_configuration
from ledgerd.supervision.this_process import lasting_modules, read_arguments
from ledgerd.testing.running.settings import Listening, NodeSettings

if TYPE_CHECKING:
    from ledgerd.node.runtime import Runtime

LOOPBACK = ["127.0.0.1:0"]


def main() -> int:
    settings = read_arguments(sys.argv[1].encode(), NodeSettings)
    code = _run(settings)
    if code == 0:  # of one that has failed, the tests show the log
        shutil.rmtree(settings.folder, ignore_errors=True)
    return code


def _run(settings: NodeSettings) -> int:
    given = {
        "webserver-http-endpoint": LOOPBACK,
        "webserver-ws-endpoint": LOOPBACK,
        "webserver-thread-pool-size": ["1"],
        "stop-with-stdin": ["true"],
    }
    configuration = dev_configuration(
        Path(settings.folder), given, network=settings.network, validators=settings.validators
    )
    with lasting_modules():
        from ledgerd.node.dev.development import DevOptions, DevRuntime  # noqa: PLC0415 - it loads all of the node
        from ledgerd.node.lifecycle import run_node  # noqa: PLC0415

    def made(each: Configuration) -> DevRuntime:
        runtime = DevRuntime(each, DevOptions(block_time=0.0, stands_still=True))
        runtime.time.shift = settings.ahead
        return runtime

    return run_node(configuration, made, greeting=_greeted)


def _greeted(node: Runtime) -> str:
    addresses = node.webserver.addresses
    listening = Listening(addresses[0][1], addresses[-1][1])
    sys.stdout.write(msgspec.json.encode(listening).decode() + "\n")
    sys.stdout.flush()
    return ""


if __name__ == "__main__":
    sys.exit(main())
