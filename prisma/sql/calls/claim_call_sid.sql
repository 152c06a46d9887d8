-- Fails the statement, as if the call were there already, when another transaction is beginning
-- the call of this id: a statement for many calls does not wait for it. The lock is that of
-- src/domain/calls/queries/calls.ts.
CREATE OR REPLACE FUNCTION claim_call_sid(company bigint, carrier text, call_sid text)
RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF NOT pg_try_advisory_xact_lock(
    hashtextextended(company || '/' || carrier || '/' || call_sid, 4109)
  ) THEN
    RAISE EXCEPTION 'the call is being begun' USING ERRCODE = 'unique_violation';
  END IF;
  RETURN true;
END $$;
