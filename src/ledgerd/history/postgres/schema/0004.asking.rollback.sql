DROP FUNCTION ledger.ask(text, integer);
