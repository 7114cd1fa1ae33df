"""`python -m ledgerd.cli`: how a built program starts, in which nothing is installed."""

from __future__ import annotations

import sys

from ledgerd.cli.main import main

sys.exit(main())
