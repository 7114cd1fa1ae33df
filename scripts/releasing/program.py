"""The program for machines without pip: a folder that runs with the Python of a system, and an archive of it.

Its modules are not compiled, since compilers of one version of Python do not always write the same bytes.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from scripts.build_program import PROGRAM, add_own_files, open_to_everybody, python_version
from scripts.releasing.wheels import unpack

UNIX = 3


def assemble(wheels: list[Path], folder: Path) -> None:
    """Put the program together in a new folder, to be started with the Python of a Debian."""
    library = folder / "lib"
    library.mkdir(parents=True)
    unpack(wheels, library)
    add_own_files(folder, f"/usr/bin/python{python_version()}", argparse.Namespace(lowmem=False, testnet=False))
    open_to_everybody(folder)


def archive(program: Path, file: Path, epoch: int, level: int) -> None:
    """Pack the program, its files in order, all of one time."""
    moment = time.gmtime(epoch)[:6]
    with ZipFile(file, "w") as packed:
        for path in sorted(each for each in program.rglob("*") if each.is_file()):
            entry = ZipInfo(f"{PROGRAM}/{path.relative_to(program).as_posix()}", moment)
            entry.create_system = UNIX
            entry.external_attr = (0o100000 | path.stat().st_mode & 0o777) << 16
            entry.compress_type = ZIP_DEFLATED
            packed.writestr(entry, path.read_bytes(), compresslevel=level)
