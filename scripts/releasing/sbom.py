"""The list of what programs consist of (an SBOM), as CycloneDX 1.6 in JSON.

The library of that format would bring seven packages to write what is a page here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import Distribution
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from scripts.build_program import DISTRIBUTIONS, PROGRAM


def write_sbom(
    file: Path,
    version: str,
    commit: tuple[str, int],
    packages: Mapping[str, Distribution],
    told: tuple[Mapping[str, str], Mapping[str, Sequence[str]]],
) -> None:
    """Write of each package the name, version, licence, hashes of the wheels taken, and what it needs.

    `commit` is its id and time, `told` the licences and the hashes by names.
    """
    licences, hashes = told
    revision, time = commit
    root = _described(PROGRAM, version, "MIT")
    others = [name for name in sorted(packages) if name not in DISTRIBUTIONS]
    components = [
        {
            **_described(name, packages[name].version, licences[name]),
            "hashes": [{"alg": "SHA-256", "content": each} for each in hashes[name]],
        }
        for name in others
    ]
    references = {each["name"]: each["bom-ref"] for each in components}
    document = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": uuid5(NAMESPACE_URL, root["purl"] + revision).urn,
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {
                **root,
                "type": "application",
                "properties": [{"name": "ledgerd:commit", "value": revision}],
            },
        },
        "components": components,
        "dependencies": [
            {"ref": root["bom-ref"], "dependsOn": [references[name] for name in others]},
            *({"ref": references[name], "dependsOn": _needs(packages[name], references)} for name in others),
        ],
    }
    file.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _described(name: str, version: str, licence: str) -> dict[str, Any]:
    purl = f"pkg:pypi/{name}@{version}"
    return {
        "type": "library",
        "bom-ref": purl,
        "name": name,
        "version": version,
        "licenses": [{"expression": licence}],
        "purl": purl,
    }


def _needs(package: Distribution, references: Mapping[str, str]) -> list[str]:
    """What of the list a package needs without its extras."""
    wanted = map(Requirement, package.requires or ())
    names = {
        canonicalize_name(each.name) for each in wanted if each.marker is None or each.marker.evaluate({"extra": ""})
    }
    return sorted(references[name] for name in names if name in references)
