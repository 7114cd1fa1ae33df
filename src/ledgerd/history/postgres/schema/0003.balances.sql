-- depends: 0002.views
-- What accounts have after each change, and what is asked of it most. A row says what made the change: the place of an
-- operation in its block, or a step of the block that has no operation.

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
