"""The lists of what programs and images consist of (SBOM), as CycloneDX 1.6 in JSON.

The library of that format would bring seven packages to write what is a page here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import Distribution
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import NAMESPACE_URL, uuid5

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from scripts.build_program import DISTRIBUTIONS, PROGRAM
from scripts.releasing.packages import Package


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
    others = [name for name in sorted(packages) if name not in DISTRIBUTIONS]
    components = [
        {
            **_described(name, packages[name].version, f"pkg:pypi/{name}@{packages[name].version}"),
            "licenses": [{"expression": licences[name]}],
            "hashes": [{"alg": "SHA-256", "content": each} for each in hashes[name]],
        }
        for name in others
    ]
    references = {each["name"]: each["bom-ref"] for each in components}
    needed = [{"ref": references[name], "dependsOn": _needs(packages[name], references)} for name in others]
    root = {**_described(PROGRAM, version, f"pkg:pypi/{PROGRAM}@{version}"), "type": "application"}
    _write(file, root, commit, components, needed)


def write_sbom_of_image(
    file: Path, version: str, commit: tuple[str, int], architecture: str, packages: Sequence[Package]
) -> None:
    """Write of each package of an image's base the name, version and hash; its licence is told in the image."""
    components = [
        {
            **_described(name, each.field("Version"), _of_debian(each)),
            "licenses": [{"license": {"name": f"as in /usr/share/doc/{name}/copyright"}}],
            "hashes": [{"alg": "SHA-256", "content": each.digest}],
        }
        for each in packages
        for name in [each.field("Package")]
    ]
    image = f"pkg:oci/{PROGRAM}?arch={architecture}&tag={version}"
    _write(file, {**_described(PROGRAM, version, image), "type": "container"}, commit, components, [])


def _of_debian(package: Package) -> str:
    version = package.field("Version")
    whose = "ubuntu" if "ubuntu" in version else "debian"
    exact = f"{quote(version, safe='')}?arch={package.field('Architecture')}"
    return f"pkg:deb/{whose}/{package.field('Package')}@{exact}"


def _write(
    file: Path,
    root: dict[str, Any],
    commit: tuple[str, int],
    components: Sequence[dict[str, Any]],
    needed: Sequence[dict[str, Any]],
) -> None:
    revision, time = commit
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
                "licenses": [{"expression": "MIT"}],
                "properties": [{"name": "ledgerd:commit", "value": revision}],
            },
        },
        "components": components,
        "dependencies": [
            {"ref": root["bom-ref"], "dependsOn": [each["bom-ref"] for each in components]},
            *needed,
        ],
    }
    file.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _described(name: str, version: str, purl: str) -> dict[str, Any]:
    return {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}


def _needs(package: Distribution, references: Mapping[str, str]) -> list[str]:
    """What of the list a package needs without its extras."""
    wanted = map(Requirement, package.requires or ())
    names = {
        canonicalize_name(each.name) for each in wanted if each.marker is None or each.marker.evaluate({"extra": ""})
    }
    return sorted(references[name] for name in names if name in references)
