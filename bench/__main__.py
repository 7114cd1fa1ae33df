"""Runs every bench, or those that are named: `python -m bench codec` runs `bench_codec.py`.

`python -m bench network --compare REVISION` runs those that can beside another revision.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pkgutil import iter_modules

import bench

PREFIX = "bench_"


def names() -> list[str]:
    """The names of the benches, sorted."""
    return sorted(m.name.removeprefix(PREFIX) for m in iter_modules(bench.__path__) if m.name.startswith(PREFIX))


def main(words: list[str]) -> int:
    """Run the benches one after another in this process; each prints its own figures."""
    known = names()
    wanted, revision = _revision_in(words)
    if unknown := [name for name in wanted if name not in known]:
        print(
            f"bench: there is no {', '.join(unknown)}; there is: {', '.join(known) or 'none'}",
            file=sys.stderr,
        )
        return 2
    if not known:
        print("There is nothing to measure yet.")
    for name in wanted or known:
        print(f"== {name}", flush=True)
        module = import_module(f"bench.{PREFIX}{name}")
        if not revision:
            module.main()
        elif hasattr(module, "compare"):
            module.compare(revision)
        else:
            print("  cannot compare revisions")
    return 0


def _revision_in(words: list[str]) -> tuple[list[str], str]:
    """The names, and the revision behind `--compare`."""
    if "--compare" not in words:
        return words, ""
    place = words.index("--compare")
    return words[:place] + words[place + 2 :], "".join(words[place + 1 : place + 2])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
