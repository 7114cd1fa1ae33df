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

RARELY = """
import gc
from ledgerd.supervision.loading import SEARCHED_AT, search_rarely

searches = []
gc.callbacks.append(lambda phase, _: searches.append(phase))
search_rarely()
kept = [[] for _ in range(SEARCHED_AT // 2)]
print(len(searches))
kept += [[] for _ in range(SEARCHED_AT)]
print(len(searches))
"""


def run(program: str) -> list[str]:
    """In a process of its own: the collector of this one has other things to do."""
    return subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    ).stdout.splitlines()


def test_where_blocks_are_applied_there_are_few_searches() -> None:
    assert run(RARELY) == ["0", "2"]


def test_what_is_loaded_to_stay_is_never_searched_and_the_rest_is() -> None:
    assert run(PROGRAM) == ["False", "True False True", "True", "True True"]
