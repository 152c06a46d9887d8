-- Claims the id that a carrier gives to a call, until the transaction ends: nothing else begins the
-- call meanwhile. Without `waits` it fails, as if the call were there already, when another
-- transaction holds it: a statement for many calls does not wait for one.
CREATE OR REPLACE FUNCTION claim_call_sid(
  company bigint, carrier text, call_sid text, waits boolean
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  key CONSTANT bigint :=
    hashtextextended(company || '/' || carrier || '/' || call_sid, 4109);
BEGIN
  IF waits THEN
    PERFORM pg_advisory_xact_lock(key);
  ELSIF NOT pg_try_advisory_xact_lock(key) THEN
    RAISE EXCEPTION 'the call is being begun' USING ERRCODE = 'unique_violation';
  END IF;
END $$;
