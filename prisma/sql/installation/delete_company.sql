-- Deletes a company with all its rows. One statement deletes from every table that has a
-- company_id: foreign keys are checked at its end, so that their order does not matter.
CREATE OR REPLACE FUNCTION delete_company(doomed bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  delete_rows text;
BEGIN
  SELECT 'WITH '
    || string_agg(format('%1$I AS (DELETE FROM %1$I WHERE company_id = $1)', c.relname), ', ')
    || ' SELECT'
  INTO delete_rows
  FROM pg_attribute a
  JOIN pg_class c ON c.oid = a.attrelid
  WHERE c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'companies'::regclass)
    AND c.relkind = 'r' AND a.attname = 'company_id' AND NOT a.attisdropped;
  -- Requests that would add rows wait for this lock, and then find no company.
  PERFORM FROM companies WHERE id = doomed FOR UPDATE;
  EXECUTE delete_rows USING doomed;
  DELETE FROM companies WHERE id = doomed;
END
$$;
