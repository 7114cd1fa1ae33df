#!/bin/sh
# Starts the node of the container image: makes the data volume its own, gives it a configuration, and hands over.
#
# NODE_SEED_NODES, NODE_WITNESS and NODE_PRIVATE_KEY are read by the node itself, so that no key stands on a command
# line. What docs/containers.md says of the others: LEDGERD_RPC_ENDPOINT, LEDGERD_P2P_ENDPOINT, LEDGERD_EXTRA_OPTS,
# LEDGERD_TEMPLATE. Arguments that begin with a dash are options of the node; others are a program to run instead of it.
set -euf

data=/var/lib/ledgerd
templates=/usr/local/lib/ledgerd/share/ledgerd/config
mounted=/etc/ledgerd/config.ini
user=ledgerd

say() { printf 'entry: %s\n' "$*"; }

fail() {
    say "$*" >&2
    exit 1
}

# A volume that the engine has just made belongs to root, and one of the host to whoever made it there.
own_volume() {
    mkdir -p "$data"
    find "$data" \( ! -user "$user" -o ! -group "$user" \) -exec chown -h "$user:$user" {} + || true
}

is_untouched() {
    for each in config.ini config_witness.ini config_testnet.ini; do
        if cmp -s "$1" "$templates/$each"; then
            return 0
        fi
    done
    return 1
}

# A validator's configuration may hold its keys.
copy_template() {
    say "$data/config.ini is made from $template"
    (
        umask 077
        cp "$templates/$template" "$data/config.ini.new"
    )
    mv "$data/config.ini.new" "$data/config.ini"
}

# Sets `config`. What an operator has written is never written over.
choose_configuration() {
    template=${LEDGERD_TEMPLATE:-config.ini}
    if [ -n "${NODE_WITNESS:-}" ] && [ "$template" = config.ini ]; then
        template=config_witness.ini
    fi
    [ -f "$templates/$template" ] || fail "LEDGERD_TEMPLATE: there is no template $template"
    if [ -e "$mounted" ]; then
        config=$mounted
        return
    fi
    config=$data/config.ini
    if [ ! -e "$config" ]; then
        copy_template
    elif ! cmp -s "$config" "$templates/$template"; then
        if is_untouched "$config"; then
            copy_template
        elif [ "$template" = config_witness.ini ]; then
            say "$config is not from this image, or was edited, and is used as it is: see to it that its RPC is served on 127.0.0.1 alone"
        fi
    fi
}

# A new process as the user of the node: this script again, without the rights of root.
if [ "$(id -u)" = 0 ]; then
    own_volume
    exec setpriv --reuid "$user" --regid "$user" --init-groups --inh-caps=-all --no-new-privs -- "$0" "$@"
fi

export HOME="$data"
case ${1:--} in
-*) ;;
*) exec "$@" ;;
esac

if [ ! -w "$data" ] || [ ! -x "$data" ]; then
    fail "$data cannot be written by user $(id -u): give it to that user, or start the container as root"
fi
cd "$data"

health=no
for word in "$@"; do
    if [ "$word" = --check-health ]; then
        health=yes
    fi
done
if [ "$health" = yes ]; then
    config=$mounted
    [ -e "$config" ] || config=$data/config.ini
else
    choose_configuration
fi

if [ -n "${LEDGERD_RPC_ENDPOINT:-}" ]; then
    set -- "--webserver-http-endpoint=$LEDGERD_RPC_ENDPOINT" "--webserver-ws-endpoint=$LEDGERD_RPC_ENDPOINT" "$@"
fi
if [ -n "${LEDGERD_P2P_ENDPOINT:-}" ]; then
    set -- "--p2p-endpoint=$LEDGERD_P2P_ENDPOINT" "$@"
fi
# shellcheck disable=SC2086 # several options, set apart by blanks
set -- --config-file "$config" --data-dir "$data" --environment "$@" ${LEDGERD_EXTRA_OPTS:-}
exec ledgerd "$@" 2>&1
