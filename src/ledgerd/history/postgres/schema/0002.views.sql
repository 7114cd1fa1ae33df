-- depends: 0001.tables
-- What is asked most. All of it is of irreversible blocks, unless the name says otherwise.

CREATE VIEW ledger.operations_all AS
    SELECT *, false AS is_reversible FROM ledger.operations
    UNION ALL
    SELECT *, true FROM ledger.operations_reversible;

CREATE VIEW ledger.daily AS
    SELECT (time AT TIME ZONE 'UTC')::date AS day,
        count(*) AS blocks,
        sum(transactions) AS transactions,
        sum(operations - virtual_operations) AS operations,
        sum(virtual_operations) AS virtual_operations,
        sum(size) AS bytes
    FROM ledger.blocks
    GROUP BY 1;

CREATE VIEW ledger.daily_types AS
    SELECT (time AT TIME ZONE 'UTC')::date AS day, type, count(*) AS operations
    FROM ledger.operations
    GROUP BY 1, 2;

CREATE VIEW ledger.daily_transfers AS
    SELECT (time AT TIME ZONE 'UTC')::date AS day, symbol, count(*) AS transfers, sum(amount) AS amount
    FROM ledger.operations
    WHERE type = 'transfer'
    GROUP BY 1, 2;

CREATE VIEW ledger.vote_history AS
    SELECT voter, time, kind, target, weight, block, place
    FROM ledger.votes
    ORDER BY voter, block, place;

CREATE VIEW ledger.validator_days AS
    SELECT validator, day, sum(made)::bigint AS made, sum(missed)::bigint AS missed
    FROM (
        SELECT validator, (time AT TIME ZONE 'UTC')::date AS day, 1 AS made, 0 AS missed FROM ledger.blocks
        UNION ALL
        SELECT validator, (time AT TIME ZONE 'UTC')::date, 0, missed FROM ledger.missed_slots
    ) AS slots
    GROUP BY validator, day;

CREATE VIEW ledger.committee_payments AS
    SELECT time, (body ->> 'request_id')::bigint AS request, recipient AS worker, amount, symbol, block
    FROM ledger.operations
    WHERE type = 'committee_pay_request';
