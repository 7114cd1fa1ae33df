#!/usr/bin/env bash
# Installs what build-linux.sh and the node need: a Python of 3.11 or later that can fill a virtual environment. It
# comes from the distribution (apt or dnf) where that has one, and is else built from its source, which takes minutes.
# Nothing is compiled against libraries of the system afterwards: all packages of the node come ready-made.
set -euo pipefail

PYTHON_VERSION=3.13.5
PYTHON_SHA256=93e583f243454e6e9e4588ca2c2662206ad961659863277afcdb96801647d640
# The same file in two places: that of Python, and the archive of Debian.
PYTHON_SOURCES=(
    "https://www.python.org/ftp/python/$PYTHON_VERSION/Python-$PYTHON_VERSION.tar.xz"
    "http://deb.debian.org/debian/pool/main/p/python3.13/python3.13_$PYTHON_VERSION.orig.tar.xz"
)
# How it is built: optimised, so that the node runs faster; without, the build takes a fifth of the time.
PYTHON_CONFIGURE=${PYTHON_CONFIGURE-"--enable-optimizations"}
VERSIONED="3.13 3.12 3.11"
find_python=$(dirname -- "${BASH_SOURCE[0]}")/scripts/find-python

say() { printf 'install-deps-linux.sh: %s\n' "$*"; }

fail() {
    say "$*" >&2
    exit 1
}

usage() {
    cat <<TEXT
Usage: install-deps-linux.sh [--python-from-source]     (as root)

Installs Python 3.11 or later, with venv, through apt or dnf. Where the distribution has none (Ubuntu 20.04), or with
--python-from-source, Python $PYTHON_VERSION is built and installed as /usr/local/bin/python${PYTHON_VERSION%.*}, beside that of the system.
TEXT
}

# -- apt

apt_install() { DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@" </dev/null; }

apt_candidate() { apt-cache policy "$1" | sed -n 's/^ *Candidate: *//p'; }

# A release candidate, such as Ubuntu 22.04 has of 3.11, is nothing to run a node on.
apt_is_recent() {
    local version
    version=$(apt_candidate "$1")
    case $version in
    *~rc* | *~b* | *~a*) return 1 ;;
    3.1[1-9].* | 3.[2-9][0-9].*) return 0 ;;
    *) return 1 ;;
    esac
}

# Ubuntu keeps venv in its component universe, which a minimal system may lack.
enable_universe() {
    [ "$(apt_candidate python3-venv)" = "(none)" ] || return 0
    say "enabling the component universe, for python3-venv"
    command -v add-apt-repository >/dev/null || apt_install software-properties-common
    add-apt-repository --yes universe </dev/null
    apt-get update </dev/null
}

with_apt() {
    apt-get update </dev/null
    enable_universe
    local version
    if apt_is_recent python3; then
        apt_install ca-certificates python3 python3-venv
        return
    fi
    for version in $VERSIONED; do
        if apt_is_recent "python$version"; then
            apt_install ca-certificates "python$version" "python$version-venv"
            return
        fi
    done
    say "this distribution has no Python of 3.11 or later"
    from_source_unless_there
}

# -- dnf

dnf_has() { dnf --quiet list --available "$1" >/dev/null 2>&1 || rpm --quiet -q "$1"; }

with_dnf() {
    local version
    dnf --assumeyes install python3 ca-certificates
    if python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
        dnf --assumeyes install python3-pip
        return
    fi
    for version in $VERSIONED; do
        if dnf_has "python$version"; then
            dnf --assumeyes install "python$version" "python$version-pip"
            return
        fi
    done
    say "this distribution has no Python of 3.11 or later"
    from_source_unless_there
}

# -- from source

# Once built, or brought by somebody else, it need not be built again.
from_source_unless_there() {
    local python
    if python=$("$find_python") && "$python" -c 'import ensurepip, ssl, venv' 2>/dev/null; then
        say "$python is recent enough, and is used"
    else
        from_source
    fi
}

install_compiler() {
    if command -v apt-get >/dev/null; then
        apt-get update </dev/null
        apt_install build-essential ca-certificates curl libbz2-dev libffi-dev liblzma-dev libssl-dev xz-utils zlib1g-dev
    else
        dnf --assumeyes install bzip2-devel ca-certificates curl gcc libffi-devel make openssl-devel xz xz-devel zlib-devel
    fi
}

fetch_source() {
    local place
    for place in "${PYTHON_SOURCES[@]}"; do
        say "fetching $place"
        if curl --fail --silent --show-error --location --connect-timeout 20 --output "$1" "$place"; then
            if printf '%s  %s\n' "$PYTHON_SHA256" "$1" | sha256sum --check --status; then
                return
            fi
            say "$place: not the file that was expected, and not used" >&2
        fi
    done
    fail "the source of Python could not be fetched"
}

from_source() {
    say "building Python $PYTHON_VERSION from its source; this takes a quarter of an hour on two cores"
    install_compiler
    local folder
    folder=$(mktemp -d)
    # shellcheck disable=SC2064 # the folder of now is meant
    trap "rm -rf -- '$folder'" EXIT
    fetch_source "$folder/python.tar.xz"
    tar -C "$folder" --strip-components=1 -xf "$folder/python.tar.xz"
    (
        cd -- "$folder"
        # shellcheck disable=SC2086 # several words
        ./configure --quiet --prefix=/usr/local --disable-test-modules $PYTHON_CONFIGURE
        make --silent --jobs "$(nproc)"
        make --silent altinstall
    )
    "/usr/local/bin/python${PYTHON_VERSION%.*}" -c 'import ctypes, ensurepip, lzma, ssl, venv, zlib'
}

from_source=no
case ${1:-} in
-h | --help)
    usage
    exit 0
    ;;
--python-from-source) from_source=yes ;;
"") ;;
*) fail "there is no option $1; see --help" ;;
esac

[ "$(id -u)" = 0 ] || fail "it installs packages of the system, and so must run as root: sudo ./install-deps-linux.sh"

if ! command -v apt-get >/dev/null && ! command -v dnf >/dev/null; then
    fail "neither apt nor dnf is here: install Python 3.11 or later yourself, with pip or venv"
fi
if [ "$from_source" = yes ]; then
    from_source
elif command -v apt-get >/dev/null; then
    with_apt
else
    with_dnf
fi
python=$("$find_python") || fail "and still there is no Python of 3.11 or later"
say "ready: $("$python" --version); now run ./build-linux.sh"
