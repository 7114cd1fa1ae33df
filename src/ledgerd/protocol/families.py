"""The modules of a folder that hold a family each: all of them are imported, so that a new one is listed nowhere."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType


def modules_of(package: str, folder: str) -> list[ModuleType]:
    names = [each.stem for each in Path(folder).iterdir() if each.suffix == ".py"]
    return [import_module(f"{package}.{name}") for name in sorted(names) if name != "__init__"]
