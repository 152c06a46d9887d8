-- Locks a call that is still as it was read, and returns it; null for one that is not. Whatever
-- changes a call writes its row: `call_version` is that of the row, null for a call that is locked
-- already.
CREATE OR REPLACE FUNCTION lock_call(company bigint, the_call bigint, call_version text)
RETURNS calls LANGUAGE plpgsql AS $$
DECLARE
  locked_call calls;
BEGIN
  SELECT c.* INTO locked_call
    FROM calls c
    WHERE c.company_id = company AND c.id = the_call
      AND (call_version IS NULL OR c.xmin = call_version::xid)
    FOR NO KEY UPDATE;
  RETURN locked_call;
END $$;
