"""Writes the options into `docs/configuration.md`, and the templates into `share/ledgerd/config/`.

What stands in the document outside of the two marks is written by hand, and left alone.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ledgerd.node.config.options.declaration import Option, OptionSection
from ledgerd.node.config.options.sections import SECTIONS
from ledgerd.node.config.templates import TEMPLATES
from ledgerd.node.config.values.kind import Argument

ROOT = Path(__file__).resolve().parents[1]
DOCUMENT = ROOT / "docs" / "configuration.md"
FOLDER = ROOT / "share" / "ledgerd" / "config"
BEGIN = "<!-- options: generated from the declarations by `make docs`; a test fails when they are out of date -->"
END = "<!-- end of the options -->"


def cell(text: str) -> str:
    """A text that a table can hold."""
    return text.replace("|", "\\|")


def default_of(option: Option) -> str:
    """The default in words."""
    return ", ".join(f"`{cell(text)}`" for text in option.defaults if text)


def remarks(option: Option) -> Iterator[str]:
    """What there is to say beside what an option is for."""
    if option.repeatable:
        yield "May be repeated."
    for name in option.older_names:
        yield f"Older name: `{name}`."
    for name, version in option.leaving_names.items():
        yield f"Older name, which goes with version {version}: `{name}`."
    if option.leaves_in:
        yield f"Goes with version {option.leaves_in}."
    if option.short:
        yield f"Short: `-{option.short}`."
    if option.kind.argument is Argument.OPTIONAL:
        yield f"Bare, on the command line: `{option.kind.bare}`."
    if option.ours:
        yield "Not in the reference."


def rows(section: OptionSection[Any]) -> Iterator[str]:
    """The table of one section."""
    yield "| option | takes | default | meaning |"
    yield "|---|---|---|---|"
    for option in section.with_meaning:
        meaning = " ".join([option.help, *remarks(option)])
        yield f"| `{option.name}` | {cell(option.kind.takes)} | {default_of(option)} | {cell(meaning)} |"
    yield ""


def options() -> str:
    """Every option, section by section; those without meaning at the end."""
    lines = []
    for section in SECTIONS.values():
        lines += [f"### {section.title}", "", section.about, "", *rows(section)]
    lines += [
        "### Without meaning",
        "",
        "Options of the reference that are accepted and mean nothing to this node. The log names those that are given.",
        "",
        "| option | why |",
        "|---|---|",
    ]
    for section in SECTIONS.values():
        lines += [f"| `{option.name}` | {cell(option.without_meaning)} |" for option in section.without_meaning]
    return "\n".join(lines)


def with_options(document: str) -> str:
    """The document with the options of today between its marks."""
    before, _, rest = document.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{options()}\n\n{END}{after}"


def main() -> int:
    """Write the document and the templates."""
    DOCUMENT.write_text(with_options(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, template in TEMPLATES.items():
        (FOLDER / name).write_text(template.text(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
