-- depends: 0004.asking
-- The penalties of validators after each change, and their slots with and without a block.

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
