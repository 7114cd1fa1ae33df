-- The tables of irreversible blocks, and the same for reversible ones. What is unique contains the column that a table
-- is distributed or partitioned by (docs/history-at-scale.md): block_range is block / 10000. The keys and indexes of
-- tables that grow are made after the first load (indexes.sql).

CREATE TABLE ledger.feed (
    id smallint PRIMARY KEY CHECK (id = 1),
    chain_id bytea NOT NULL,
    first bigint NOT NULL,
    head bigint NOT NULL,
    head_id bytea NOT NULL,
    irreversible bigint NOT NULL,
    is_indexed boolean NOT NULL,
    fed_at timestamptz NOT NULL
);
COMMENT ON TABLE ledger.feed IS 'One row: up to which block the history is fed.';

CREATE TABLE ledger.blocks (
    block_range bigint NOT NULL,
    block bigint NOT NULL,
    id bytea NOT NULL,
    time timestamptz NOT NULL,
    validator text NOT NULL,
    transactions integer NOT NULL,
    operations integer NOT NULL,
    virtual_operations integer NOT NULL,
    size integer NOT NULL
);
CREATE TABLE ledger.blocks_reversible (
    block_range bigint NOT NULL,
    block bigint NOT NULL,
    id bytea NOT NULL,
    time timestamptz NOT NULL,
    validator text NOT NULL,
    transactions integer NOT NULL,
    operations integer NOT NULL,
    virtual_operations integer NOT NULL,
    size integer NOT NULL,
    PRIMARY KEY (block_range, block)
);
COMMENT ON TABLE ledger.blocks IS 'The blocks. operations counts all recorded ones, virtual ones included; transactions those with a recorded operation.';

CREATE TABLE ledger.transactions (
    id bytea NOT NULL,
    block bigint NOT NULL,
    trx_in_block integer NOT NULL,
    time timestamptz NOT NULL,
    operations integer NOT NULL
);
CREATE TABLE ledger.transactions_reversible (
    id bytea NOT NULL,
    block bigint NOT NULL,
    trx_in_block integer NOT NULL,
    time timestamptz NOT NULL,
    operations integer NOT NULL,
    PRIMARY KEY (id, block)
);
COMMENT ON TABLE ledger.transactions IS 'The transactions that have recorded operations.';

CREATE TABLE ledger.operations (
    block_range bigint NOT NULL,
    block bigint NOT NULL,
    place integer NOT NULL,
    transaction_id bytea,
    trx_in_block integer NOT NULL,
    op_in_trx integer NOT NULL,
    virtual_op bigint NOT NULL,
    is_virtual boolean NOT NULL,
    time timestamptz NOT NULL,
    tag smallint NOT NULL,
    type text NOT NULL,
    who text,
    sender text,
    recipient text,
    amount numeric,
    symbol text,
    memo text,
    body jsonb NOT NULL,
    is_mended boolean NOT NULL,
    packed bytea NOT NULL
);
CREATE TABLE ledger.operations_reversible (
    block_range bigint NOT NULL,
    block bigint NOT NULL,
    place integer NOT NULL,
    transaction_id bytea,
    trx_in_block integer NOT NULL,
    op_in_trx integer NOT NULL,
    virtual_op bigint NOT NULL,
    is_virtual boolean NOT NULL,
    time timestamptz NOT NULL,
    tag smallint NOT NULL,
    type text NOT NULL,
    who text,
    sender text,
    recipient text,
    amount numeric,
    symbol text,
    memo text,
    body jsonb NOT NULL,
    is_mended boolean NOT NULL,
    packed bytea NOT NULL,
    PRIMARY KEY (block_range, block, place)
);
COMMENT ON TABLE ledger.operations IS 'The recorded operations, in the order of get_ops_in_block. packed is the truth; the other columns are made from it. is_mended: a NUL, or a byte that is not UTF-8, stands as U+FFFD in a text.';

CREATE TABLE ledger.account_operations (
    account text NOT NULL,
    sequence bigint NOT NULL,
    block bigint NOT NULL,
    place integer NOT NULL,
    tag smallint NOT NULL,
    entry bytea NOT NULL
);
CREATE TABLE ledger.account_operations_reversible (
    account text NOT NULL,
    sequence bigint NOT NULL,
    block bigint NOT NULL,
    place integer NOT NULL,
    tag smallint NOT NULL,
    entry bytea NOT NULL,
    PRIMARY KEY (account, sequence)
);
COMMENT ON TABLE ledger.account_operations IS 'The history of each account, by its sequence numbers. entry repeats the operation with its numbers, so that one table answers for an account; of an operation that touches more than 32 accounts it has the numbers alone.';

CREATE TABLE ledger.missed_slots (
    block_range bigint NOT NULL,
    block bigint NOT NULL,
    validator text NOT NULL,
    missed bigint NOT NULL,
    time timestamptz NOT NULL
);
CREATE TABLE ledger.missed_slots_reversible (
    block_range bigint NOT NULL,
    block bigint NOT NULL,
    validator text NOT NULL,
    missed bigint NOT NULL,
    time timestamptz NOT NULL,
    PRIMARY KEY (block_range, block, validator)
);
COMMENT ON TABLE ledger.missed_slots IS 'How many slots of a validator between the block before and this one have no block.';

CREATE TABLE ledger.votes (
    voter text NOT NULL,
    block bigint NOT NULL,
    place integer NOT NULL,
    time timestamptz NOT NULL,
    kind text NOT NULL,
    target text NOT NULL,
    weight integer NOT NULL
);
CREATE TABLE ledger.votes_reversible (
    voter text NOT NULL,
    block bigint NOT NULL,
    place integer NOT NULL,
    time timestamptz NOT NULL,
    kind text NOT NULL,
    target text NOT NULL,
    weight integer NOT NULL,
    PRIMARY KEY (voter, block, place)
);
COMMENT ON TABLE ledger.votes IS 'Votes for validators (1 or 0), their proxies (1), requests to the committee, content and disputed markets (percent, in hundredths).';

CREATE TABLE ledger.accounts (
    account text PRIMARY KEY,
    entries bigint NOT NULL
);
COMMENT ON TABLE ledger.accounts IS 'How many entries of irreversible blocks the history of each account has.';
