"""A process that writes recorded chains while a test reads their directories: it does what is said on its input.

`open NAME FOLDER` opens a chain with all that plugins keep, `advance HEIGHT` applies its blocks, `push BLOCK`
one in base64 that is in no log, `close` closes it. Each is answered with a line that has the height.
"""

from __future__ import annotations

import base64
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.block import Block
from tests.chain.recorded_chains import LIKE_THE_RECORDING, advance
from tests.rpc.api.serving import chain_with_history


class Writer:
    """The other end of the process."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def do(self, *words: object) -> int:
        """Have something done; the height afterwards."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(" ".join(map(str, words)) + "\n")
        stdin.flush()
        return int(stdout.readline())


@contextmanager
def writer() -> Iterator[Writer]:
    """The process, for as long as the block lasts."""
    command = [sys.executable, "-m", __name__]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - our own module
        yield Writer(process)
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(60) == 0


def main() -> None:
    """Do what is said until the end of the input."""
    name, opened, chain = "", ExitStack(), None
    with opened:
        for line in sys.stdin:
            word, *rest = line.split()
            if word == "open":
                name = rest[0]
                chain = opened.enter_context(chain_with_history(name, Path(rest[1])))
            elif chain is not None and word == "advance":
                advance(chain, name, int(rest[0]))
            elif chain is not None and word == "push":
                chain.push_block(codec_of(Block).decode(base64.b64decode(rest[0])), LIKE_THE_RECORDING).or_raise()
            elif chain is not None and word == "close":
                opened.close()
            sys.stdout.write(f"{chain.head_number if chain and word != 'close' else 0}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
