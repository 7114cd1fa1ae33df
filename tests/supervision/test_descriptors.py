"""How many files a process may have open."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import resource
from ledgerd.supervision.descriptors import files_allowed
resource.setrlimit(resource.RLIMIT_NOFILE, ({soft}, {hard}))
print(files_allowed({needed}), resource.getrlimit(resource.RLIMIT_NOFILE)[0])
"""


@pytest.mark.parametrize(
    ("soft", "hard", "needed", "said"),
    [(64, 256, 200, "200 200"), (64, 256, 1000, "256 256"), (128, 256, 100, "100 128")],
)
def test_the_soft_limit_is_raised_as_far_as_it_takes_and_may(soft: int, hard: int, needed: int, said: str) -> None:
    program = PROGRAM.format(soft=soft, hard=hard, needed=needed)

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)  # noqa: S603 - our own program

    assert done.stdout.strip() == said
