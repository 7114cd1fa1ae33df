"""What operations of hardforks 14 and 15 are refused for, as the source says it, and which tests refuse for it.

A text is a template: what is known only at run time is a `*` in it. What a function puts into the texts of its rules
from its arguments is followed from its callers.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import NamedTuple

from tests.chain.market_scenes import NOT_ENABLED
from tests.house.source_tree import PACKAGE, called_name, parse, python_files

FAMILIES = ("agents", "bets", "disputes", "leverage", "liquidity", "markets", "oracles")
FLOORS: Mapping[str, tuple[str, ...]] = {
    "chain/evaluators": ("chain/rules/markets", "chain/rules/accounts/authorities.py"),
    "protocol/operations": ("protocol/operations/markets/rules.py",),
}
"""Where the operations of a family are judged, and what rules they share; their tests are in the room of that name."""

OF_ALL = {NOT_ENABLED: "tests/chain/rules/markets/test_market.py"}
"""What every operation asks first, and a test that goes through all of them."""

RULE, REFUSAL = "require", "RuleViolation"
UNKNOWN = "*"

Environment = Mapping[str, str]
"""What names stand for, as far as it can be read."""


def text_of(node: ast.expr, known: Environment) -> str:
    """A text as far as it can be read."""
    match node:
        case ast.Constant(value=value):
            return str(value)
        case ast.Name(id=name):
            return known.get(name, UNKNOWN)
        case ast.JoinedStr(values=values):
            return "".join(text_of(value, known) for value in values)
        case ast.FormattedValue(value=value):
            return text_of(value, known)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return text_of(left, known) + text_of(right, known)
    return UNKNOWN


def constants_of(tree: ast.Module) -> dict[str, str]:
    """Texts and numbers with a name of their own."""
    return {
        target.id: str(node.value.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


class Rules:
    """The functions of some modules, and what each may refuse for."""

    def __init__(self, paths: tuple[Path, ...]) -> None:
        self._functions: dict[str, tuple[ast.FunctionDef, Path]] = {}
        self._constants: dict[str, str] = {}
        self._methods: list[tuple[ast.FunctionDef, Path]] = []
        for path in paths:
            tree = parse(path)
            self._constants |= constants_of(tree)
            for node in tree.body:
                if isinstance(node, ast.FunctionDef):
                    self._functions[node.name] = node, path
                elif isinstance(node, ast.ClassDef):
                    self._methods += [(each, path) for each in node.body if isinstance(each, ast.FunctionDef)]

    def texts_of(self, path: Path) -> set[str]:
        """What the functions of a module, and those that they call, may refuse for."""
        own = [node for node, where in (*self._functions.values(), *self._methods) if where == path]
        called = {name for node in own for name in self._calls_of(node)}
        begun = [node for node in own if node.name not in called]
        return {text for node in begun for text in self._texts(node, {}, frozenset())}

    def _calls_of(self, function: ast.FunctionDef) -> Iterator[str]:
        yield from (name for each in ast.walk(function) for name in _called(each) if name in self._functions)

    def _texts(self, function: ast.FunctionDef, given: Environment, above: frozenset[str]) -> Iterator[str]:
        known = {**self._constants, **given}
        for node in ast.walk(function):
            if not isinstance(node, ast.Call):
                continue
            name = called_name(node)
            if name == RULE and len(node.args) == 2:
                yield _filled(node.args[1], node.keywords, known)
            elif name == REFUSAL:
                yield _filled(node.args[0], node.keywords, known)
            for called in _called(node):
                if called in self._functions and called not in above | {function.name}:
                    below = self._functions[called][0]
                    arguments = node.args if called == name else node.args[1:]
                    names = [each.arg for each in below.args.args]
                    handed = {key: text_of(each, known) for key, each in zip(names, arguments, strict=False)}
                    defaults = [text_of(each, known) for each in below.args.defaults]
                    filled = dict(zip(names[len(names) - len(defaults) :], defaults, strict=True)) if defaults else {}
                    yield from self._texts(below, {**filled, **handed}, above | {function.name})


def _filled(layout: ast.expr, values: list[ast.keyword], known: Environment) -> str:
    """The text of a rule: its format with its values, as far as they can be read."""
    text = text_of(layout, known)
    for each in values:
        text = text.replace(f"${{{each.arg}}}", text_of(each.value, known))
    return text


def _called(node: ast.AST) -> Iterator[str]:
    """What a call calls; and what it hands on to be called, as `priced(cancel, ...)` does."""
    if isinstance(node, ast.Call):
        yield called_name(node)
        if node.args and isinstance(node.args[0], ast.Name):
            yield node.args[0].id


def rules_of_families(root: Path, families: tuple[str, ...] = FAMILIES) -> dict[str, set[str]]:
    """What the operations of each family may be refused for, floor by floor."""
    package, found = root / "src" / PACKAGE, dict[str, set[str]]()
    for floor, shared in FLOORS.items():
        own = {path.stem: path for path in python_files(package / floor) if path.stem in families}
        paths = [path for each in shared for path in _files(package / each)]
        rules = Rules((*own.values(), *paths))
        found |= {f"{floor}/{family}": rules.texts_of(path) for family, path in own.items()}
    return found


def _files(path: Path) -> Iterator[Path]:
    yield from [path] if path.suffix else python_files(path)


# -- tests

TAKEN = {"Rule", "carry_out", "accepts"}
"""What a test calls that has an operation taken; who makes a `Rule` hands it to `Scene.asks_in_order`."""


class Seen(NamedTuple):
    """The texts that a test module refuses for, and those of them whose other side it sees as well."""

    refused: frozenset[str]
    taken: frozenset[str]


def seen_by(path: Path, root: Path) -> Seen:
    """What the tests of a module show."""
    tree = parse(path)
    known = constants_of(tree) | _imported_constants(tree, root)
    refused, taken = set[str](), set[str]()
    for node in tree.body:
        texts = {text_of(each, known) for each in ast.walk(node) if isinstance(each, ast.Constant | ast.JoinedStr)}
        texts |= {known[each.id] for each in ast.walk(node) if isinstance(each, ast.Name) and each.id in known}
        texts |= {text_of(each, known) for each in ast.walk(node) if isinstance(each, ast.BinOp)}
        calls = {called_name(each) for each in ast.walk(node) if isinstance(each, ast.Call)}
        is_table = isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == "UNSOUND"
        if is_table or "Rule" in calls or any(name.startswith("refuses") for name in calls) or "raises" in calls:
            refused |= texts
            if is_table or calls & TAKEN:
                taken |= texts
    return Seen(frozenset(refused), frozenset(taken))


def _imported_constants(tree: ast.Module, root: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tests."):
            path = root / f"{(node.module or '').replace('.', '/')}.py"
            if path.exists():
                constants = constants_of(parse(path))
                found |= {each.name: constants[each.name] for each in node.names if each.name in constants}
    return found


def imports_family(path: Path, name: str) -> bool:
    """Whether a test module is about the operations of a family."""
    pattern = rf"^from {PACKAGE}\.protocol\.operations\.(\w+\.)?{name} import"
    return re.search(pattern, path.read_text(encoding="utf-8"), re.MULTILINE) is not None


def is_in(template: str, texts: AbstractSet[str]) -> bool:
    """Whether one of these is an instance of the template."""
    if UNKNOWN not in template:
        return template in texts
    pattern = re.compile(".*".join(re.escape(part) for part in template.split(UNKNOWN)), re.DOTALL)
    return any(pattern.fullmatch(each) for each in texts)
