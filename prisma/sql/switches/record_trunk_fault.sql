-- Records that the trunk of an attempt has failed: the call does not use it again, and after three
-- faults in a row it is tried only where no other trunk leads, for a minute. Locks the trunk and
-- those that the call uses next, in the order of their ids.
CREATE OR REPLACE FUNCTION record_trunk_fault(
  company bigint,
  the_attempt uuid,
  at timestamptz,
  fault text,
  next_trunk_ids bigint[] DEFAULT '{}'
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  failed bigint;
BEGIN
  UPDATE call_attempts a
    SET failed_trunk_ids = a.failed_trunk_ids || a.trunk_id
    WHERE a.company_id = company AND a.uuid = the_attempt AND a.trunk_id IS NOT NULL
    RETURNING a.trunk_id INTO failed;
  PERFORM lock_trunks(company, next_trunk_ids || failed);
  UPDATE trunks t
    SET
      faults = t.faults + 1,
      last_fault = fault,
      down_until = CASE
        WHEN t.faults >= 2 THEN at + interval '1 minute'
        ELSE t.down_until
      END
    WHERE t.company_id = company AND t.id = failed;
END $$;

-- Records that a call has reached a telephone through a trunk. Locks the trunk if it had faults.
CREATE OR REPLACE FUNCTION clear_trunk_faults(company bigint, the_trunk bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  UPDATE trunks t
    SET faults = 0, down_until = NULL
    WHERE t.company_id = company AND t.id = the_trunk AND t.faults > 0;
END $$;
