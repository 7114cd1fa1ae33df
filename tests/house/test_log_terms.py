"""The words of the log: each is plain English or a term of the field, and each term has an entry in the glossary.

Two lists are checked in beside this file: `log_terms.txt` (a word, and its headword in the glossary where that differs)
and `plain_words.txt`. A log line with a word in neither list fails: put it into the first with a glossary entry, or
into the second if any reader knows it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.source_tree import PACKAGE, ROOT, called_name, parse, python_files, write_tree

LOUD = {"info", "warning", "error", "critical", "exception", "log"}
LOGGERS = {"log", "_frame_log"}
REASONS = {"remark", "strike", "ban", "close", "tell", "ProgressLine", "progress", "rebuild_with_progress"}
"""Calls whose text is logged: remarks on the configuration, why a peer is charged or closed, and work with progress."""

PASSED_ON: dict[str, tuple[str, ...]] = {
    "chain/log/files.py": (),  # the text of an exception
    "cli/progress.py": ("supervision/progress.py",),
    "node/datadir/opening.py": ("node/datadir/origin.py",),
    "node/lifecycle.py": (),  # remarks on the configuration: REASONS
    "node/parts/validators/guard.py": ("producer/guard.py",),
    "node/parts/peers.py": ("p2p/report.py",),
    "node/datadir/state_import.py": ("chain/ledger/provenance.py",),
    "node/parts/watching/recovery/audit_part.py": ("chain/ledger/provenance.py",),
    "node/parts/watching/recovery/part.py": ("node/parts/watching/recovery/rule.py",),
    "node/parts/replaying.py": ("node/parts/replaying.py", "supervision/progress.py"),
    "node/parts/watching/unknown_hardforks.py": ("chain/rules/validators/unknown_hardforks.py",),
    "p2p/network_state.py": ("p2p/network_state.py",),
    "p2p/shared/notices.py": (),  # why a peer is charged or closed: REASONS
    "p2p/sync/intake.py": ("p2p/sync/report.py",),
    "producer/doppelganger.py": ("producer/doppelganger.py",),
    "producer/loop.py": ("producer/decision.py", "producer/streaks.py"),
    "snapshot/import_progress.py": ("supervision/progress.py",),
    "snapshot/jobs.py": ("snapshot/job.py",),
    "supervision/work.py": ("supervision/work.py", "node/workers/precompute_pool.py"),
}
"""Files that log a text which was made elsewhere, and the files that make it: all their texts count."""

WORD = re.compile(r"[A-Za-z]+(?:['_-][A-Za-z]+)*")
PLACEHOLDER = re.compile(r"%(?:\([a-z_]+\))?[-+#0 ]*\d*(?:\.\d+)?[sdfrx]|\\x[0-9a-f]+")
ENTRY = re.compile(r"^- \*\*([^*]+)\*\*: ", re.MULTILINE)
HERE = ROOT / "tests" / "house"


def literals(node: ast.AST) -> Iterator[str]:
    """The texts in a part of a module, those of f-strings too; no docstrings, and no text that stands alone."""
    alone = {id(each.value) for each in ast.walk(node) if isinstance(each, ast.Expr)}
    formats = {
        id(part)
        for each in ast.walk(node)
        if isinstance(each, ast.FormattedValue) and each.format_spec
        for part in ast.walk(each.format_spec)
    }
    for each in ast.walk(node):
        if isinstance(each, ast.Constant) and isinstance(each.value, str) and not {id(each)} & (alone | formats):
            yield each.value


def log_calls(module: ast.Module) -> Iterator[ast.Call]:
    """Calls that log at info or above."""
    for node in ast.walk(module):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=logger), attr=level)):
                if logger in LOGGERS and level in LOUD:
                    yield node


def values_of(argument: ast.expr) -> ast.AST:
    """An argument without the names of its fields, which only JSON shows."""
    if not isinstance(argument, ast.Dict):
        return argument
    return ast.List(argument.values, ast.Load())


def log_texts(src: Path) -> Iterator[str]:
    """What the log can say, but for values."""
    makers = {file for files in PASSED_ON.values() for file in files}
    for path in python_files(src / PACKAGE):
        module = parse(path)
        for call in log_calls(module):
            for argument in call.args:
                yield from literals(values_of(argument))
        for node in ast.walk(module):
            if isinstance(node, ast.Call) and called_name(node) in REASONS:
                yield from literals(node)
        if path.relative_to(src / PACKAGE).as_posix() in makers:
            yield from (text for text in literals(module) if " " in text)


def passed_on(src: Path) -> set[str]:
    """Files that log a text of which they know nothing."""
    return {
        path.relative_to(src / PACKAGE).as_posix()
        for path in python_files(src / PACKAGE)
        for call in log_calls(parse(path))
        if not any(
            WORD.search(PLACEHOLDER.sub(" ", text)) for argument in call.args for text in literals(values_of(argument))
        )
    }


def words_of(texts: Iterator[str]) -> set[str]:
    """All words, in small letters."""
    return {word.lower() for text in texts for word in WORD.findall(PLACEHOLDER.sub(" ", text)) if len(word) > 1}


def terms() -> dict[str, str]:
    """The words of the field, and under which headword the glossary has each."""
    lines = (HERE / "log_terms.txt").read_text(encoding="utf-8").splitlines()
    pairs = (line.partition(": ") for line in lines if line)
    return {word: headword or word for word, _, headword in pairs}


def plain_words() -> list[str]:
    return (HERE / "plain_words.txt").read_text(encoding="utf-8").split()


def headwords() -> list[str]:
    return ENTRY.findall((ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"))


def unknown_words(src: Path) -> list[str]:
    """Words of the log that are in neither list."""
    return sorted(words_of(log_texts(src)) - terms().keys() - set(plain_words()))


def test_every_word_of_the_log_is_a_known_term_or_plain() -> None:
    assert unknown_words(ROOT / "src") == []


def test_every_term_is_used_in_a_log_line() -> None:
    assert sorted(terms().keys() - words_of(log_texts(ROOT / "src"))) == []


def test_every_term_has_an_entry_in_the_glossary() -> None:
    assert sorted(set(terms().values()) - set(headwords())) == []


def test_no_word_is_in_both_lists_and_both_are_sorted() -> None:
    assert sorted(terms().keys() & set(plain_words())) == []
    assert list(terms()) == sorted(terms())
    assert plain_words() == sorted(set(plain_words()))


def test_the_glossary_is_sorted_and_has_each_word_once() -> None:
    folded = [word.lower() for word in headwords()]

    assert len(folded) > 60
    assert folded == sorted(set(folded))


def test_a_text_that_is_passed_on_is_read_where_it_is_made() -> None:
    assert passed_on(ROOT / "src") == PASSED_ON.keys()
    assert [
        file for files in PASSED_ON.values() for file in files if not (ROOT / "src" / PACKAGE / file).exists()
    ] == []


@pytest.mark.parametrize(
    "line",
    [
        "log.info('the frobnicator stops')",
        "log.warning('%d: %s', 1, 'frobnicator' if x else '')",
        "log.log(level, f'{x} frobnicator {y:>10}')",
        "def go():\n    log.exception('a ' + 'frobnicator')",
        "surroundings.remark(f'frobnicator of {x}')",
    ],
)
def test_an_unknown_word_in_a_log_line_is_found(tmp_path: Path, line: str) -> None:
    assert unknown_words(write_tree(tmp_path, {f"{PACKAGE}/node/a.py": line})) == ["frobnicator"]


def test_an_unknown_word_in_a_text_that_is_passed_on_is_found(tmp_path: Path) -> None:
    tree = write_tree(tmp_path, {f"{PACKAGE}/p2p/report.py": "def line(x):\n    return f'frobnicator {x}'"})

    assert unknown_words(tree) == ["frobnicator"]


def test_what_is_not_logged_at_info_or_above_is_not_read(tmp_path: Path) -> None:
    text = '"""A frobnicator."""\nlog.debug("frobnicator")\nmath.log("frobnicator")\nraise ValueError("frobnicator")'

    assert unknown_words(write_tree(tmp_path, {f"{PACKAGE}/node/a.py": text})) == []


def test_a_text_that_is_passed_on_unseen_is_found(tmp_path: Path) -> None:
    tree = write_tree(
        tmp_path,
        {f"{PACKAGE}/node/a.py": "log.info('%s: %s', a, b)\n", f"{PACKAGE}/node/b.py": "log.info('block %d', n)"},
    )

    assert passed_on(tree) == {"node/a.py"}


NAMELESS = re.compile(r"%[-+#0 ]*\d*(?:\.\d+)?[sdfrx]")


def nameless(src: Path) -> Iterator[str]:
    """Log lines whose values have no names, which `log-format = json` writes as fields; a text that was made elsewhere
    may stand alone.
    """
    for path in python_files(src / PACKAGE):
        for call in log_calls(parse(path)):
            for argument in call.args:
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    text = argument.value
                    if text != "%s" and NAMELESS.search(text):
                        yield f"{path.relative_to(src / PACKAGE).as_posix()}:{call.lineno}: {text}"


def test_every_value_of_a_log_line_has_a_name() -> None:
    assert [*nameless(ROOT / "src")] == []


def test_a_value_without_a_name_is_found(tmp_path: Path) -> None:
    text = "log.info('block %d', n)\nlog.info('block %(block)d', {'block': n})\nlog.info('%s', text)\n"
    tree = write_tree(tmp_path, {f"{PACKAGE}/node/a.py": text})

    assert [*nameless(tree)] == ["node/a.py:1: block %d"]
