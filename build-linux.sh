#!/usr/bin/env bash
# Builds build/programs/ledgerd/ledgerd on Linux: a directory with all that it needs but Python, to be put anywhere.
# `./build-linux.sh --help` tells the options. Needs what install-deps-linux.sh installs. Root may build too, since in
# containers there is often nobody else; nothing outside build/ is touched without --install.
set -euo pipefail
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)

if [ "$(uname -s)" != Linux ]; then
    printf 'build-linux.sh: this is not Linux: see build-mac.sh and build-mingw.bat\n' >&2
    exit 1
fi
if ! python=$("$root/scripts/find-python"); then
    printf 'build-linux.sh: there is no Python of 3.11 or later: run install-deps-linux.sh as root, or name one: PYTHON=/path/to/python3 ./build-linux.sh\n' >&2
    exit 1
fi
exec "$python" "$root/scripts/build_program.py" build-linux.sh "$@"
