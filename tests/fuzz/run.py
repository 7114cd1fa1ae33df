"""Looks for inputs that break what `target` says must hold, led by the code that each input reaches.

Started by `scripts/fuzz`, which brings the fuzzer; what it finds interesting it keeps in the corpus.
"""

from __future__ import annotations

import sys

import atheris  # type: ignore[import-untyped]  # brought by scripts/fuzz, and no part of the environment

from tests.fuzz.corpus import inputs
from tests.fuzz.target import survive


def main() -> None:
    """Hand over to the fuzzer; its own options follow the name of the script."""
    for data in inputs():
        survive(data)  # compiles the codecs: what is to be observed must exist before
    atheris.instrument_all()
    atheris.Setup(sys.argv, survive)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
