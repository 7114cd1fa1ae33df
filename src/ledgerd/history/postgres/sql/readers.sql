-- Two roles for people who ask in SQL: ledger_reader reads all tables, ledger_asker only through ledger.ask, which
-- gives 10,000 rows at most. Make users members of one of them, and give each the limits of time (docs/sql.md).
-- ledger.ask answers with the rights of a third role, ledger_answerer, which can read these tables and nothing else;
-- nobody is to be a member of it.

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['ledger_reader', 'ledger_asker', 'ledger_answerer'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN', name);
        END IF;
    END LOOP;
    IF EXISTS (
        SELECT FROM pg_roles WHERE rolname = 'ledger_answerer'
        AND (rolcanlogin OR rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls)
    ) OR EXISTS (SELECT FROM pg_auth_members WHERE member = 'ledger_answerer'::regrole) THEN
        RAISE 'the role ledger_answerer can do more than read: drop it, and run this again';
    END IF;
END $$;
GRANT USAGE ON SCHEMA ledger TO ledger_reader, ledger_asker, ledger_answerer;
GRANT SELECT ON ALL TABLES IN SCHEMA ledger TO ledger_reader, ledger_answerer;
ALTER DEFAULT PRIVILEGES IN SCHEMA ledger GRANT SELECT ON TABLES TO ledger_reader, ledger_answerer;

-- The books that yoyo keeps of the schema name the operator and the machine.
DO $$
DECLARE
    book regclass;
BEGIN
    FOR book IN SELECT oid FROM pg_class WHERE relnamespace = 'ledger'::regnamespace AND relname LIKE '%yoyo%' AND relkind = 'r' LOOP
        EXECUTE format('REVOKE SELECT ON %s FROM ledger_answerer', book);
    END LOOP;
END $$;

-- To give a function to a role, one has to be a member of it for a moment, and the role may create in the schema.
GRANT ledger_answerer TO CURRENT_USER;
GRANT CREATE ON SCHEMA ledger TO ledger_answerer;
ALTER FUNCTION ledger.ask(text, integer) OWNER TO ledger_answerer;
ALTER FUNCTION ledger.ask(text, integer) SECURITY DEFINER;
GRANT EXECUTE ON FUNCTION ledger.ask(text, integer) TO ledger_asker;
REVOKE CREATE ON SCHEMA ledger FROM ledger_answerer;
REVOKE ledger_answerer FROM CURRENT_USER;
