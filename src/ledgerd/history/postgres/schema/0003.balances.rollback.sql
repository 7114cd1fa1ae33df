DROP VIEW ledger.supply;
DROP VIEW ledger.statement;
DROP VIEW ledger.rich_list;
DROP TABLE ledger.balances_reversible;
DROP TABLE ledger.balances;
