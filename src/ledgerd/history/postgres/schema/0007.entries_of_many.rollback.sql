-- The version before does not know entries without their operations.
UPDATE ledger.account_operations AS a SET entry = a.entry || o.packed
    FROM ledger.operations AS o
    WHERE octet_length(a.entry) = 36 AND o.block_range = a.block / 10000 AND o.block = a.block AND o.place = a.place;
UPDATE ledger.account_operations_reversible AS a SET entry = a.entry || o.packed
    FROM ledger.operations_reversible AS o
    WHERE octet_length(a.entry) = 36 AND o.block = a.block AND o.place = a.place;
COMMENT ON TABLE ledger.account_operations IS 'The history of each account, by its sequence numbers. entry repeats the operation with its numbers, so that one table answers for an account.';
