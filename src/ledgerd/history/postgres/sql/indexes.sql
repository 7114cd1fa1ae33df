-- Keys and indexes, made once the tables are filled up to the last irreversible block.

ALTER TABLE ledger.blocks ADD PRIMARY KEY (block_range, block);
CREATE INDEX blocks_time ON ledger.blocks (time);
ALTER TABLE ledger.transactions ADD PRIMARY KEY (id, block);
ALTER TABLE ledger.operations ADD PRIMARY KEY (block_range, block, place);
CREATE INDEX operations_type ON ledger.operations (type, block);
CREATE INDEX operations_recipient ON ledger.operations (recipient, block) WHERE recipient IS NOT NULL;
ALTER TABLE ledger.account_operations ADD PRIMARY KEY (account, sequence);
ALTER TABLE ledger.missed_slots ADD PRIMARY KEY (block_range, block, validator);
ALTER TABLE ledger.votes ADD PRIMARY KEY (voter, block, place);
CREATE INDEX votes_target ON ledger.votes (kind, target, block);
ALTER TABLE ledger.balances ADD PRIMARY KEY (account, holding, block, ordinal);

-- Until the server looks for itself it plans with what it knew of tables that were nearly empty, and reads them whole.
ANALYZE ledger.blocks, ledger.transactions, ledger.operations, ledger.account_operations, ledger.missed_slots, ledger.votes, ledger.balances;
