-- Two roles for people who ask in SQL: ledger_reader reads all tables, ledger_asker only through ledger.ask, which
-- gives 10,000 rows at most. Make users members of one of them, and give each the limits of time below.

DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'ledger_reader') THEN
        CREATE ROLE ledger_reader NOLOGIN;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'ledger_asker') THEN
        CREATE ROLE ledger_asker NOLOGIN;
    END IF;
END $$;
GRANT USAGE ON SCHEMA ledger TO ledger_reader, ledger_asker;
GRANT SELECT ON ALL TABLES IN SCHEMA ledger TO ledger_reader;
ALTER DEFAULT PRIVILEGES IN SCHEMA ledger GRANT SELECT ON TABLES TO ledger_reader;
GRANT CREATE ON SCHEMA ledger TO ledger_reader;
ALTER FUNCTION ledger.ask(text, integer) OWNER TO ledger_reader;
REVOKE CREATE ON SCHEMA ledger FROM ledger_reader;
GRANT EXECUTE ON FUNCTION ledger.ask(text, integer) TO ledger_asker;
