"""`ledgerd` at the priority of the tests: on a busy machine, what gives way to others would wait for minutes."""

from __future__ import annotations

import os
import sys

from ledgerd.cli import main

if __name__ == "__main__":
    os.nice = lambda _steps: 0
    sys.exit(main(sys.argv[1:]))
