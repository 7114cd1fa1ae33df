DROP VIEW ledger.supply;
DROP VIEW ledger.statement;
DROP VIEW ledger.rich_list;
DROP TABLE ledger.balances_reversible;
DROP FUNCTION ledger.balance_at(text, text, bigint);
ALTER TABLE ledger.feed DROP COLUMN balances_from;
DROP TABLE ledger.balances;
