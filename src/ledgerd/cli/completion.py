"""`ledgerd completion`: what a shell has to know to complete commands, options and their values, from the parsers."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from ledgerd.cli.arguments.node_arguments import node_arguments
from ledgerd.cli.main import COMMANDS, WALLET, parser

# In each of them the words that were typed lead to a place, such as `ledgerd init`. Behind a place stand commands and
# choices; after it and `-`, options; after it and an option, the values of that. Where nothing stands, files do.
BASH = """\
# Made by `ledgerd completion bash`.
_ledgerd_words() {
    case "$1" in
%s
    *) return 1 ;;
    esac
}
_ledgerd() {
    local place=ledgerd last= word current="${COMP_WORDS[COMP_CWORD]}"
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        case "$word" in
        =) ;;
        -*) last=" $word" ;;
        *) last=; _ledgerd_words "$place $word" >/dev/null && place="$place $word" ;;
        esac
    done
    case "$current" in -*) last=" -" ;; esac
    COMPREPLY=($(compgen -W "$(_ledgerd_words "$place$last")" -- "$current"))
}
complete -o default -F _ledgerd ledgerd
"""
ZSH = """\
#compdef ledgerd
# Made by `ledgerd completion zsh`.
_ledgerd_words() {
    case "$1" in
%s
    *) return 1 ;;
    esac
}
_ledgerd() {
    local place=ledgerd last= word
    local -a found
    for word in "${words[@]:1:$((CURRENT - 2))}"; do
        case "$word" in
        -*) last=" $word" ;;
        *) last=; _ledgerd_words "$place $word" >/dev/null && place="$place $word" ;;
        esac
    done
    case "${words[CURRENT]}" in -*) last=" -" ;; esac
    found=(${=$(_ledgerd_words "$place$last")})
    if (( $#found )); then compadd -- $found; else _files; fi
}
if [ "$funcstack[1]" = _ledgerd ]; then _ledgerd "$@"; else compdef _ledgerd ledgerd; fi
"""
FISH = """\
# Made by `ledgerd completion fish`.
function __ledgerd_words
    switch "$argv"
%s
        case '*'
            return 1
    end
end
function __ledgerd
    set -l place ledgerd
    set -l last
    set -l typed (commandline -opc)
    set -e typed[1]
    for word in $typed
        if string match -q -- '-*' $word
            set last $word
        else
            set last
            __ledgerd_words $place $word >/dev/null; and set place $place $word
        end
    end
    string match -q -- '-*' (commandline -ct); and set last -
    __ledgerd_words $place $last | string split -n ' '
end
complete -c ledgerd -a '(__ledgerd)'
"""
SCRIPTS = {
    "bash": (BASH, "    '{}') echo '{}' ;;"),
    "zsh": (ZSH, "    '{}') echo '{}' ;;"),
    "fish": (FISH, "        case '{}'\n            echo '{}'"),
}
"""For each shell, its script, and the line that says what may be typed at a place."""


def run(chosen: argparse.Namespace) -> int:
    print(script_of(chosen.shell), end="")
    return 0


def script_of(shell: str) -> str:
    script, each = SCRIPTS[shell]
    return script % "\n".join(each.format(place, " ".join(found)) for place, found in every_place().items())


def every_place() -> dict[str, list[str]]:
    """The words that may be typed, for each place."""
    from ledgerd.wallet.command_line import parser as wallet_parser  # noqa: PLC0415 - a hundred commands, for this alone

    node = dict(_places(node_arguments(str, ()), "ledgerd"))
    commands = dict(_places(parser(), "ledgerd"))
    wallet = dict(_places(wallet_parser(), f"ledgerd {WALLET}"))
    return node | commands | wallet | {"ledgerd": [*COMMANDS], "ledgerd -": node["ledgerd -"]}


def _places(arguments: argparse.ArgumentParser, place: str) -> Iterator[tuple[str, list[str]]]:
    choices, options = list[str](), list[str]()
    for action in arguments._actions:  # noqa: SLF001 - argparse tells what it was given in no other way
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 - it has no public name
            for name, below in action.choices.items():
                yield from _places(below, f"{place} {name}")
        values = [*map(str, action.choices or ())]
        if not action.option_strings:
            choices += values
        elif action.help is not argparse.SUPPRESS:
            options += action.option_strings
            if values:
                yield from ((f"{place} {option}", values) for option in action.option_strings)
    yield place, choices
    yield f"{place} -", options
