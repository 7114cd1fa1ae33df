-- depends: 0002.views
-- What accounts have after each change, and what is asked of it most. A row says what made the change: the place of an
-- operation in its block, or a step of the block that has no operation. Then the penalties of validators, and their slots
-- with and without a block.

CREATE TABLE ledger.balances (
    account text NOT NULL,
    holding text NOT NULL,
    block bigint NOT NULL,
    ordinal integer NOT NULL,
    time timestamptz NOT NULL,
    amount numeric NOT NULL,
    change numeric NOT NULL,
    symbol text NOT NULL,
    place integer,
    step text
);
CREATE TABLE ledger.balances_reversible (
    account text NOT NULL,
    holding text NOT NULL,
    block bigint NOT NULL,
    ordinal integer NOT NULL,
    time timestamptz NOT NULL,
    amount numeric NOT NULL,
    change numeric NOT NULL,
    symbol text NOT NULL,
    place integer,
    step text,
    PRIMARY KEY (account, holding, block, ordinal)
);
COMMENT ON TABLE ledger.balances IS 'What an account has of a holding after each change, and by how much that differs from before.';

ALTER TABLE ledger.feed ADD COLUMN balances_from bigint;

CREATE VIEW ledger.rich_list AS
    SELECT DISTINCT ON (account, holding) account, holding, amount, symbol, block
    FROM ledger.balances
    ORDER BY account, holding, block DESC, ordinal DESC;

CREATE VIEW ledger.statement AS
    SELECT b.account, b.time, b.holding, b.change, b.amount AS balance, b.symbol, b.step,
        o.type, o.sender, o.recipient, o.memo, b.block, b.ordinal
    FROM ledger.balances AS b
    LEFT JOIN ledger.operations AS o
        ON o.block_range = b.block / 10000 AND o.block = b.block AND o.place = b.place;

CREATE FUNCTION ledger.balance_at(name text, held text, number bigint) RETURNS numeric LANGUAGE sql STABLE AS '
    SELECT coalesce((
        SELECT amount FROM ledger.balances WHERE account = name AND holding = held AND block <= number
        ORDER BY block DESC, ordinal DESC LIMIT 1
    ), 0)
    FROM ledger.feed WHERE number BETWEEN balances_from AND irreversible';

CREATE VIEW ledger.supply AS
    SELECT symbol, sum(amount) AS amount, count(DISTINCT account) AS accounts
    FROM ledger.rich_list
    WHERE holding NOT IN ('delegated', 'received') AND amount <> 0
    GROUP BY symbol;

CREATE TABLE ledger.penalties (
    block_range bigint NOT NULL,
    block bigint NOT NULL,
    validator text NOT NULL,
    percent integer NOT NULL,
    time timestamptz NOT NULL,
    PRIMARY KEY (block_range, block, validator)
);
CREATE TABLE ledger.penalties_reversible (
    block_range bigint NOT NULL,
    block bigint NOT NULL,
    validator text NOT NULL,
    percent integer NOT NULL,
    time timestamptz NOT NULL,
    PRIMARY KEY (block_range, block, validator)
);
COMMENT ON TABLE ledger.penalties IS 'The part of its votes that a validator does without from this block on, in hundredths of a percent; 0 where the last penalty ends.';

CREATE VIEW ledger.standing_penalties AS
    SELECT validator, percent, since, time
    FROM (
        SELECT DISTINCT ON (validator) validator, percent, block AS since, time
        FROM ledger.penalties
        ORDER BY validator, block DESC
    ) AS newest
    WHERE percent > 0;

CREATE VIEW ledger.validator_slots AS
    SELECT validator, block, time, true AS is_made, 1 AS slots FROM ledger.blocks
    UNION ALL
    SELECT validator, block, time, false, missed FROM ledger.missed_slots;

-- Where the first load was done before there were balances, their key was not made.
DO '
BEGIN
    IF EXISTS (SELECT FROM ledger.feed WHERE is_indexed)
        AND NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = ''ledger.balances''::regclass AND contype = ''p'')
    THEN
        ALTER TABLE ledger.balances ADD PRIMARY KEY (account, holding, block, ordinal);
    END IF;
END';
