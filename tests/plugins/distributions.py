"""Distributions of plugins, made for a test: a module, and the metadata that names what is in it."""

from __future__ import annotations

from pathlib import Path


def made_distribution(folder: Path, module: str, source: str, *names: str, version: str = "1.2") -> Path:
    """A folder for `PYTHONPATH`, with a distribution whose entry points are attributes of its module."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{module}.py").write_text(source)
    metadata = folder / f"ledgerd_{module}-{version}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: ledgerd-{module}\nVersion: {version}\n")
    lines = [f"{name} = {module}:{name}" for name in names]
    (metadata / "entry_points.txt").write_text("\n".join(["[ledgerd.plugins]", *lines, ""]))
    return folder
