-- depends: 0006.careful_asking
-- What is fed from now on is another for operations that touch very many accounts; entries that are there may stay.

COMMENT ON TABLE ledger.account_operations IS 'The history of each account, by its sequence numbers. entry repeats the operation with its numbers, so that one table answers for an account; of an operation that touches more than 32 accounts it has the numbers alone.';
