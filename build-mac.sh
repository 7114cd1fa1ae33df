#!/usr/bin/env bash
# Builds build/programs/ledgerd/ledgerd on macOS: a directory with all that it needs but Python, to be put anywhere.
# Python comes from Homebrew where there is none of 3.11 or later; --skip-deps leaves that to you. The other options
# are those of build-linux.sh: `./build-mac.sh --help` tells them.
set -euo pipefail
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)

if [ "$(uname -s)" != Darwin ]; then
    printf 'build-mac.sh: this is not macOS: see build-linux.sh and build-mingw.bat\n' >&2
    exit 1
fi

arguments=()
install_python=yes
for word in "$@"; do
    if [ "$word" = --skip-deps ]; then
        install_python=no
    else
        arguments+=("$word")
    fi
done

if ! python=$("$root/scripts/find-python"); then
    if [ "$install_python" = yes ] && command -v brew >/dev/null; then
        brew install python@3.13
        python=$(brew --prefix python@3.13)/bin/python3.13
    else
        printf 'build-mac.sh: there is no Python of 3.11 or later: install Homebrew (https://brew.sh) or Python, or name one: PYTHON=/path/to/python3 ./build-mac.sh\n' >&2
        exit 1
    fi
fi
exec "$python" "$root/scripts/build_program.py" build-mac.sh ${arguments[@]+"${arguments[@]}"}
