-- Divides the tables that grow, while they are empty, into as many parts by hash as the setting ledger.partitions says.

DO $$
DECLARE
    parts CONSTANT integer := current_setting('ledger.partitions')::integer;
    views CONSTANT text[] := (
        SELECT array_agg(format('CREATE VIEW ledger.%I AS %s', c.relname, pg_get_viewdef(c.oid)) ORDER BY c.oid)
        FROM pg_class AS c WHERE c.relnamespace = 'ledger'::regnamespace AND c.relkind = 'v'
    );
    view_name text;
    table_name text;
    key text;
BEGIN
    IF EXISTS (SELECT FROM ledger.feed) THEN
        RAISE 'the tables are filled already';
    END IF;
    FOR view_name IN SELECT relname FROM pg_class WHERE relnamespace = 'ledger'::regnamespace AND relkind = 'v' LOOP
        EXECUTE format('DROP VIEW IF EXISTS ledger.%I CASCADE', view_name);
    END LOOP;
    FOR table_name, key IN
        SELECT * FROM (VALUES
            ('blocks', 'block_range'), ('transactions', 'id'), ('operations', 'block_range'),
            ('account_operations', 'account'), ('accounts', 'account'), ('missed_slots', 'block_range'),
            ('penalties', 'block_range'), ('votes', 'voter'), ('balances', 'account')
        ) AS spread
    LOOP
        EXECUTE format('ALTER TABLE ledger.%I RENAME TO former', table_name);
        EXECUTE format('CREATE TABLE ledger.%I (LIKE ledger.former INCLUDING ALL) PARTITION BY HASH (%I)', table_name, key);
        DROP TABLE ledger.former;
        FOR part IN 0 .. parts - 1 LOOP
            EXECUTE format(
                'CREATE TABLE ledger.%I PARTITION OF ledger.%I FOR VALUES WITH (MODULUS %s, REMAINDER %s)',
                table_name || '_' || part, table_name, parts, part
            );
        END LOOP;
    END LOOP;
    FOR place IN 1 .. cardinality(views) LOOP
        EXECUTE views[place];
    END LOOP;
END $$;
