DROP FUNCTION ledger.ask(text, integer);
CREATE FUNCTION ledger.ask(query text, most integer DEFAULT 1000) RETURNS SETOF jsonb
    LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = ledger AS '
BEGIN
    RETURN QUERY EXECUTE format(''SELECT to_jsonb(asked) FROM (%s) AS asked LIMIT %s'', query, least(most, 10000));
END';

REVOKE EXECUTE ON FUNCTION ledger.ask(text, integer) FROM PUBLIC;
