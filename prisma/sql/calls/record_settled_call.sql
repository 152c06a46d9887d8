-- Whether a change of a call is one that counts of settled calls must know of.
CREATE OR REPLACE FUNCTION is_settled_change(was calls, now calls) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  RETURN
    -- Whatever its age: a call that has left its chunk cannot be seen there as a young one.
    was.id <> now.id
    OR was.deleted_at IS DISTINCT FROM now.deleted_at
    OR least(was.created_at, now.created_at) < clock_timestamp() - interval '10 minutes'
    AND (
      was.created_at, was.ended_at, was.caller_number, was.status,
      was.direction, was.buyer_converted, was.traffic_source_converted, was.recording_url,
      was.offer_id, was.buyer_id, was.traffic_source_id, was.schedule_id, was.number_id,
      was.lead_id, was.token_values, was.agent_id, was.disposition_id, was.unbilled_reason,
      was.connected_at, was.routed, was.carrier
    ) IS DISTINCT FROM (
      now.created_at, now.ended_at, now.caller_number, now.status,
      now.direction, now.buyer_converted, now.traffic_source_converted, now.recording_url,
      now.offer_id, now.buyer_id, now.traffic_source_id, now.schedule_id, now.number_id,
      now.lead_id, now.token_values, now.agent_id, now.disposition_id, now.unbilled_reason,
      now.connected_at, now.routed, now.carrier
    );
END $$;

-- A call that was created some minutes ago has settled: what is then written of it, and can be seen
-- by a filter of calls, is recorded with its transaction, so that counts of other chunks of ids
-- stay right (src/data/counts/settled-counts.ts). The last writer of a row is the last to commit.
-- What begins and soon ends, as nearly every call does, does not get here.
CREATE OR REPLACE FUNCTION record_settled_call(company bigint, call bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  the_chunk CONSTANT bigint := call / 8192;
BEGIN
  UPDATE call_changes c
    SET xid = pg_current_xact_id()
    WHERE c.company_id = company AND c.chunk = the_chunk
      AND c.slot = (
        SELECT f.slot
        FROM call_changes f
        WHERE f.company_id = company AND f.chunk = the_chunk
        LIMIT 1
        FOR NO KEY UPDATE SKIP LOCKED
      );
  IF NOT FOUND THEN
    INSERT INTO call_changes (company_id, chunk, slot, xid)
      VALUES (company, the_chunk, random() * 2147483647, pg_current_xact_id())
      ON CONFLICT (company_id, chunk, slot) DO UPDATE SET xid = excluded.xid;
  END IF;
END $$;
