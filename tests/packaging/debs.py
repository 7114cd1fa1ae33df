"""Packages of Debian that tests make up, for images: what real ones have that matters, and nothing that runs."""

from __future__ import annotations

import os
from pathlib import Path

from tests.packaging.conftest import succeeded
from tests.packaging.environment import run

FILES = {
    "base-files": {
        "bin/tool": "a tool\n",
        "lib/shared": "shared\n",
        "usr/share/doc/base-files/copyright": "free\n",
        "usr/share/doc/base-files/changelog.gz": "long\n",
        "usr/share/man/man1/tool.1.gz": "told\n",
    },
    "ca-certificates": {
        "usr/share/ca-certificates/mozilla/One.crt": "one\n",
        "usr/share/ca-certificates/mozilla/Two.crt": "two\n",
    },
}
VERSION = "1:2+deb~3"


def make_up(folder: Path, architecture: str) -> None:
    """Build the packages of an architecture into a folder of its name."""
    packages = folder / architecture
    packages.mkdir(parents=True)
    for name, files in FILES.items():
        tree = folder / f"{name}.tree"
        for path, text in files.items():
            (tree / path).parent.mkdir(parents=True, exist_ok=True)
            (tree / path).write_text(text)
        if name == "base-files":
            (tree / "bin/tool").chmod(0o4755)
            os.link(tree / "bin/tool", tree / "bin/same-tool")
            (tree / "bin/other-tool").symlink_to("tool")
        (tree / "DEBIAN").mkdir()
        (tree / "DEBIAN/control").write_text(
            f"Package: {name}\nVersion: {VERSION}\nArchitecture: {architecture}\n"
            "Maintainer: tests\nDescription: made up\n"
        )
        words = ("--root-owner-group", "-Znone", "--build", str(tree), str(packages / f"{name}.deb"))
        succeeded(run("dpkg-deb", *words))
