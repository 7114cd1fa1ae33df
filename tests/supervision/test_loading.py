"""What is loaded to stay is left alone by the collector, which works again afterwards."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import gc
from ledgerd.supervision.loading import lasting_modules

with lasting_modules():
    print(gc.isenabled())
    class Lasting: pass
print(gc.isenabled(), Lasting in gc.get_objects(), gc.get_freeze_count() > 1_000)

class Later: pass
print(Later in gc.get_objects())
try:
    with lasting_modules():
        import ledgerd.missing
except ModuleNotFoundError:
    print(gc.isenabled(), Later in gc.get_objects())
"""


def test_what_is_loaded_to_stay_is_never_searched_and_the_rest_is() -> None:
    """In a process of its own: the collector of this one has other things to do."""
    ended = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60, check=True
    )

    assert ended.stdout.splitlines() == ["False", "True False True", "True", "True True"]
