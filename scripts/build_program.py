"""Builds the program: `build/programs/ledgerd/`, a directory that runs from wherever it is put.

All that it needs lies in it, but for the Python that it was built with. The build scripts of each platform call this
with their own name and their arguments; it needs nothing but that Python, and pip or venv.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zlib
from collections.abc import Callable, Sequence
from importlib.util import MAGIC_NUMBER, find_spec, source_hash
from pathlib import Path
from py_compile import PycInvalidationMode
from typing import NoReturn

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "requirements-runtime.lock"
BUILD = ROOT / "build"
PROGRAM = "ledgerd"
DISTRIBUTIONS = ("ledgerd", "ledgerd-client")
"""Their rooms are all in the program, which has one version."""
PREFIX = "/usr/local"

UNCHECKED = (1).to_bytes(4, "little")
"""What says of a compiled module that its source is known by its hash, and not looked at (PEP 552)."""

WITHOUT_MEANING = {
    "type": "nothing is compiled",
    "static": "nothing is linked",
    "no_lock_check": "the state has one writer, and no locks",
    "boost_root": "no Boost is needed",
    "openssl_root": "no OpenSSL is needed",
}
"""Options of the reference's scripts that are accepted, and why they change nothing."""


class BuildError(Exception):
    """What the builder still has to do."""


class BuildArguments(argparse.ArgumentParser):
    """Ends with 1 at a fault, as the reference's scripts do."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, and how to learn what is right."""
        self.exit(1, f"{self.prog}: {message}\nTry ./{self.prog} --help\n")


def read_arguments(called: str, words: Sequence[str]) -> argparse.Namespace:
    """What the script was asked to do."""
    arguments = BuildArguments(
        prog=called,
        description="Builds build/programs/ledgerd/ledgerd, which runs from any directory without these sources.",
        allow_abbrev=False,
    )
    arguments.add_argument(
        "-l", "--lowmem", action="store_true", help="for little memory: without the plugins that index the chain"
    )
    arguments.add_argument("-n", "--testnet", action="store_true", help="for the testnet, where nothing else is said")
    arguments.add_argument("--clean", action="store_true", help="remove what was built before")
    arguments.add_argument(
        "--install",
        action="store_true",
        help=f"install it below {PREFIX}, or PREFIX of the environment, in DESTDIR where that is set",
    )
    arguments.add_argument("-j", "--jobs", type=_positive, default=os.cpu_count() or 1, metavar="N", help="processes")
    unused = arguments.add_argument_group("accepted, and without meaning here")
    unused.add_argument("-t", "--type", metavar="TYPE", help=WITHOUT_MEANING["type"])
    unused.add_argument("-s", "--static", action="store_true", default=None, help=WITHOUT_MEANING["static"])
    unused.add_argument("--no-lock-check", action="store_true", default=None, help=WITHOUT_MEANING["no_lock_check"])
    unused.add_argument("--boost-root", metavar="PATH", help=WITHOUT_MEANING["boost_root"])
    unused.add_argument("--openssl-root", metavar="PATH", help=WITHOUT_MEANING["openssl_root"])
    return arguments.parse_args(words)


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text}: must be a number from 1")
    return int(text)


# -- packages


def pip_command(tools: Path) -> list[str]:
    """The pip at hand; in a new environment where Python brings one along and none is installed."""
    if find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    if find_spec("ensurepip") is None:
        raise BuildError(
            f"{sys.executable} has no pip: run install-deps-linux.sh, or install python{python_version()}-venv"
        )
    import venv  # noqa: PLC0415 - Debian packs it with ensurepip

    venv.create(tools, with_pip=True)
    return [str(tools / ("Scripts" if os.name == "nt" else "bin") / "python"), "-m", "pip"]


def packages(jobs: int) -> Path:
    """The packages of the lock, compiled; those of the last build where they are the same."""
    lock = zlib.crc32(LOCK.read_bytes())
    folder = BUILD / "packages" / f"{sys.implementation.cache_tag}-{platform.machine()}-{lock:08x}"
    if folder.is_dir():
        return folder
    print(f"Installing the packages of {LOCK.name}", flush=True)
    fresh = folder.with_suffix(".new")
    shutil.rmtree(fresh, ignore_errors=True)
    with tempfile.TemporaryDirectory() as tools:
        command = [*pip_command(Path(tools)), "install", "--quiet", "--no-input", "--disable-pip-version-check"]
        command += ["--target", str(fresh), "--no-user", "--no-deps", "--no-compile"]
        command += ["--root-user-action", "ignore"]
        command += ["--only-binary", ":all:", "--require-hashes", "--requirement", str(LOCK)]
        run(command)
    shutil.rmtree(fresh / "bin", ignore_errors=True)
    compile_modules(fresh, jobs)
    fresh.rename(folder)
    return folder


def run(command: Sequence[str]) -> None:
    """Run a program, which speaks for itself when it fails."""
    if subprocess.run(command, check=False, stdin=subprocess.DEVNULL).returncode:  # noqa: S603 - our own words
        raise BuildError(f"failed: {' '.join(command)}")


def compile_modules(folder: Path, jobs: int) -> None:
    """Compile once and for all: what is copied elsewhere has other times, and its owner may be somebody else."""
    compileall.compile_dir(
        folder, quiet=2, workers=jobs, stripdir=str(folder), invalidation_mode=PycInvalidationMode.UNCHECKED_HASH
    )


# -- the program


def version_of_sources() -> str:
    """The version that pyproject.toml gives."""
    version: str = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    return version


def revision() -> str:
    """The commit of the sources, where that can be known."""
    if given := os.environ.get("LEDGERD_REVISION"):
        return given
    git = shutil.which("git")
    if git is None or not (ROOT / ".git").exists():
        return "unknown"
    told = subprocess.run(  # noqa: S603 - our own words
        [git, "-C", str(ROOT), "rev-parse", "HEAD"], capture_output=True, text=True, check=False
    )
    return told.stdout.strip() or "unknown"


def assemble(folder: Path, chosen: argparse.Namespace) -> None:
    """Put the program together in an empty folder."""
    library = folder / "lib"
    shutil.copytree(packages(chosen.jobs), library, copy_function=link_or_copy)
    add_own_files(folder, os.path.realpath(getattr(sys, "_base_executable", sys.executable)), chosen)
    last = BUILD / "programs" / PROGRAM / "lib" / PROGRAM
    sources = (library / PROGRAM).rglob("*.py")
    if not all(take_compiled(each, library / PROGRAM, last) for each in sources):
        compile_modules(library / PROGRAM, chosen.jobs)
    open_to_everybody(folder)


def take_compiled(source: Path, package: Path, last: Path) -> bool:
    """Take what the last build compiled of a module; False where that was another module, or by another Python."""
    name = f"{source.stem}.{sys.implementation.cache_tag}.pyc"
    inside = source.relative_to(package).with_name("__pycache__") / name
    compiled = last / inside
    try:
        with compiled.open("rb") as file:
            made_of = file.read(len(MAGIC_NUMBER) + 12)
    except OSError:
        return False
    if made_of != MAGIC_NUMBER + UNCHECKED + source_hash(source.read_bytes()):
        return False
    (package / inside).parent.mkdir(exist_ok=True)
    link_or_copy(str(compiled), str(package / inside))
    return True


def add_own_files(folder: Path, python: str, chosen: argparse.Namespace) -> None:
    """Put into a folder, which has the packages in `lib`, what is of this project, and what starts it with a Python."""
    library = folder / "lib"
    package = library / PROGRAM
    shutil.copytree(ROOT / "src" / PROGRAM, package, ignore=shutil.ignore_patterns("__pycache__", "build.json"))
    flavour = {
        "low_memory": chosen.lowmem,
        "network": "testnet" if chosen.testnet else "mainnet",
        "revision": revision(),
    }
    (package / "build.json").write_text(json.dumps(flavour), encoding="utf-8")
    for name in DISTRIBUTIONS:
        metadata = library / f"{name.replace('-', '_')}-{version_of_sources()}.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {name}\nVersion: {version_of_sources()}\n", encoding="utf-8"
        )
    shutil.copytree(ROOT / "share" / PROGRAM / "config", folder / "share" / PROGRAM / "config")
    shutil.copy(ROOT / "LICENSE", folder)
    (folder / "interpreter").write_text(f"{python_version()}\n{python}\n", encoding="utf-8")
    shutil.copy(launcher(), folder)


def python_version() -> str:
    """The version that compiled modules are for, as `3.11`."""
    return "{}.{}".format(*sys.version_info[:2])


def link_or_copy(source: str, target: str) -> None:
    """The same file under another name, where the file system can do that: nobody writes to any of them."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def launcher() -> Path:
    """What starts the program on this platform."""
    name = f"{PROGRAM}.cmd" if os.name == "nt" else PROGRAM
    return ROOT / "share" / PROGRAM / "program" / name


def open_to_everybody(folder: Path) -> None:
    """Let any user run it, whatever the builder's own files are like."""
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)


def build(chosen: argparse.Namespace) -> Path:
    """Build beside the last program, and take its place once it runs; gives the executable."""
    folder = BUILD / "programs" / PROGRAM
    if chosen.clean:
        shutil.rmtree(BUILD, ignore_errors=True)
    replace(folder, lambda fresh: assemble(fresh, chosen))
    return folder / launcher().name


def replace(folder: Path, make: Callable[[Path], object]) -> None:
    """Have a folder rebuilt; the old one stays until the new one has proved to run."""
    fresh, old = folder.with_name(f"{folder.name}.new"), folder.with_name(f"{folder.name}.old")
    for each in (fresh, old):
        shutil.rmtree(each, ignore_errors=True)
    fresh.parent.mkdir(parents=True, exist_ok=True)
    make(fresh)
    run([str(fresh / launcher().name), "--version"])
    if folder.exists():
        folder.rename(old)
    fresh.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def install(executable: Path) -> Path:
    """Copy the program below the prefix, with a link among the commands; gives the link."""
    prefix = os.environ.get("PREFIX") or PREFIX
    root = Path(os.environ.get("DESTDIR", "") + prefix)
    replace(root / "lib" / PROGRAM, lambda fresh: shutil.copytree(executable.parent, fresh))
    link = root / "bin" / executable.name
    link.parent.mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(Path("..") / "lib" / PROGRAM / executable.name)
    return link


def main(words: Sequence[str]) -> int:
    """Build, as the script that is named first was asked to."""
    called, *rest = words
    chosen = read_arguments(called, rest)
    for name, why in WITHOUT_MEANING.items():
        if getattr(chosen, name) is not None:
            print(f"note: --{name.replace('_', '-')} is without meaning: {why}")
    try:
        executable = build(chosen)
        print(f"Built {executable.relative_to(ROOT)}")
        if chosen.install:
            print(f"Installed {install(executable)}")
    except (BuildError, OSError) as problem:
        sys.stderr.write(f"{called}: {problem}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
