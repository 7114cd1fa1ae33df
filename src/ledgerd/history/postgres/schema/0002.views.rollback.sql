DROP VIEW ledger.committee_payments;
DROP VIEW ledger.validator_days;
DROP VIEW ledger.vote_history;
DROP VIEW ledger.daily_transfers;
DROP VIEW ledger.daily_types;
DROP VIEW ledger.daily;
DROP VIEW ledger.operations_all;
