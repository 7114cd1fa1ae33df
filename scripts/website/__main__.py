"""`python -m scripts.website`: makes the site of the documents with Sphinx, which `scripts/site` has installed.

Markdown is read as code hosts read it. A warning, such as of a link or an anchor that leads nowhere, is an error.
"""

from __future__ import annotations

import os
import re
import sys
import tomllib

from sphinx.application import Sphinx

from scripts.website.navigation import BESIDE, ENTRY, LISTING, ROOT, contents

BUILD = ROOT / "build"
FILES = "scripts/website"
LONG_NAME = re.compile(r'(?<=<span class="pre">)[^<>]{25,}(?=</span>)')
JOINT = re.compile(r"[_/.]|::")


def settings() -> dict[str, object]:
    """What Sphinx and the theme are told."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    return {
        "project": "ledgerd",
        "release": version,
        "extensions": ["myst_parser"],
        "root_doc": ENTRY.removesuffix(".md"),
        "include_patterns": [*BESIDE, "docs/**.md"],
        "exclude_patterns": [".*", "build", "dist", "src"],
        "nitpicky": True,
        "suppress_warnings": ["misc.highlighting_failure"],  # answers in part are no JSON; configurations of others
        "myst_heading_anchors": 6,
        "html_theme": "furo",
        "html_title": f"ledgerd {version}",
        "html_static_path": [f"{FILES}/site.css"],
        "html_css_files": ["site.css"],
        "html_extra_path": [f"{FILES}/index.html"],
        "html_copy_source": False,
        "html_show_copyright": False,
        "html_show_search_summary": False,  # from the disk, a browser reads no other pages
        "html_show_sphinx": False,
    }


def add_navigation(_app: object, name: str, source: list[str]) -> None:
    """Let the pages that list others have the navigation behind their text."""
    document = f"{name}.md"
    if document in LISTING:
        source[0] += contents(document, source[0])


def mend(_app: object, _name: str, _template: str, page: dict[str, object], _tree: object) -> None:
    """Let links to files of the sources open them, where they would be saved, and long names break at their joints."""
    body = str(page.get("body", "")).replace(' download=""', "")
    page["body"] = LONG_NAME.sub(lambda name: JOINT.sub(r"\g<0><wbr>", name[0]), body)


def main() -> int:
    """Make the site; 1 where something in it is wrong."""
    site = Sphinx(
        ROOT,
        None,
        BUILD / "site",
        BUILD / "site-pages",
        "html",
        confoverrides=settings(),
        status=None,
        warningiserror=True,
        parallel=os.cpu_count() or 1,
    )
    site.connect("source-read", add_navigation)
    site.connect("html-page-context", mend)
    site.build()
    return int(site.statuscode)


if __name__ == "__main__":
    sys.exit(main())
