DROP VIEW ledger.validator_slots;
DROP VIEW ledger.standing_penalties;
DROP TABLE ledger.penalties_reversible;
DROP TABLE ledger.penalties;
