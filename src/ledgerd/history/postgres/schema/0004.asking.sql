-- depends: 0003.balances
-- Questions of users who may call this function and nothing else (docs/sql.md). It carries them out with the rights of a
-- role that can only read, which `ledgerd history readers` makes, and refuses to with any other. The text is opened as a
-- cursor: so it is one statement that reads, and cannot change how many of its rows are taken. Whatever it has set or
-- locked in the session of the caller is undone.

CREATE FUNCTION ledger.ask(query text, most integer DEFAULT 1000) RETURNS SETOF jsonb
    LANGUAGE plpgsql STABLE
    SET search_path = pg_catalog, ledger, pg_temp
    SET transaction_read_only = on
    AS '
DECLARE
    most_rows CONSTANT integer := 10000;
    most_bytes CONSTANT bigint := 16777216;
    locks_before CONSTANT bigint := (
        SELECT count(*) FROM pg_locks WHERE locktype = ''advisory'' AND pid = pg_backend_pid());
    answers refcursor;
    asked record;
    shown jsonb;
    bytes bigint := 0;
    is_answered boolean := false;
BEGIN
    IF current_user <> ''ledger_answerer'' THEN
        RAISE insufficient_privilege USING
            MESSAGE = ''ledger.ask has not been given the role that it answers with'',
            HINT = ''Run "ledgerd history readers" as the user who feeds this database.'';
    END IF;
    IF current_setting(''statement_timeout'')::interval NOT BETWEEN ''1 ms'' AND ''1 min'' THEN
        RAISE object_not_in_prerequisite_state USING
            MESSAGE = ''ledger.ask needs a statement_timeout of a minute at most'',
            HINT = format(''ALTER ROLE %I SET statement_timeout = ''''10s'''';'', session_user);
    END IF;
    BEGIN
        OPEN answers NO SCROLL FOR EXECUTE query;
        FOR number IN 1 .. least(most, most_rows) LOOP
            FETCH answers INTO asked;
            EXIT WHEN NOT FOUND;
            IF bytes + pg_column_size(asked) <= most_bytes THEN
                shown := to_jsonb(asked);
                bytes := bytes + pg_column_size(shown);
            ELSE
                bytes := most_bytes + 1;
            END IF;
            IF bytes > most_bytes THEN
                RAISE program_limit_exceeded USING MESSAGE = ''the answer is larger than 16 MB: ask for less of it'';
            END IF;
            RETURN NEXT shown;
        END LOOP;
        is_answered := true;
        RAISE EXCEPTION ''what the question has set is undone, as after an error'';
    EXCEPTION WHEN OTHERS OR query_canceled THEN
        IF locks_before < (SELECT count(*) FROM pg_locks WHERE locktype = ''advisory'' AND pid = pg_backend_pid()) THEN
            PERFORM pg_advisory_unlock_all();
        END IF;
        IF NOT is_answered THEN
            RAISE;
        END IF;
    END;
END';

REVOKE EXECUTE ON FUNCTION ledger.ask(text, integer) FROM PUBLIC;
