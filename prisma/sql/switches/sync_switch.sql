-- A switch has said which calls it has. Renews the leases of those that are in progress; a slot
-- that an event holds at the moment is renewed by that event, and is passed over. `ended` are live
-- calls that have ended here, `unknown` those that were never reported, both as they were sent.
--
-- `gone` are calls of the switch in progress here that it does not have, with the time at which
-- each was last surely live: all of them after a restart of the switch, else those that were there
-- before its last sync. A call that came in since, or that the switch has said it places, may have
-- been too late for this list; one that it has not been asked for yet is not there to be lost.
--
-- Locks the switch alone.
CREATE OR REPLACE FUNCTION sync_switch(
  company bigint, the_switch bigint, at timestamptz, new_boot text, live text[],
  lease_seconds integer,
  OUT renewed integer, OUT ended text[], OUT unknown text[], OUT gone json
) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  is_restart boolean;
  last_sync timestamptz;
  live_ids bigint[];
BEGIN
  SELECT s.boot_id IS DISTINCT FROM new_boot, coalesce(s.synced_at, '-infinity')
    INTO is_restart, last_sync
    FROM switches s
    WHERE s.company_id = company AND s.id = the_switch
    FOR NO KEY UPDATE;
  SELECT
      array_agg(l.id) FILTER (WHERE l.is_live),
      coalesce(array_agg(l.sid) FILTER (WHERE NOT l.is_live), '{}'),
      coalesce(array_agg(l.sid) FILTER (WHERE l.id IS NULL), '{}'),
      count(*) FILTER (WHERE l.is_live)
    INTO live_ids, ended, unknown, renewed
    FROM (
      SELECT
        x.sid, coalesce(c.id, u.id) AS id,
        CASE
          WHEN c.id IS NOT NULL THEN c.ended_at IS NULL
          WHEN u.id IS NOT NULL THEN u.ended_at IS NULL
        END AS is_live
      FROM (SELECT DISTINCT y.sid FROM unnest(live) AS y(sid)) x
      LEFT JOIN calls c
        ON c.company_id = company AND c.carrier = 'softswitch' AND c.carrier_call_id = x.sid
      LEFT JOIN calls u
        ON u.company_id = company
        AND u.uuid = CASE
          WHEN c.id IS NULL AND pg_input_is_valid(x.sid, 'uuid') THEN x.sid::uuid
        END
    ) l;

  UPDATE call_slots s
    SET lease_until = at + lease_seconds * interval '1 second', seen_at = at
    FROM (
      SELECT x.call_id, x.call_limit_id
      FROM call_slots x
      WHERE x.company_id = company AND x.call_id = ANY (live_ids)
      FOR UPDATE SKIP LOCKED
    ) held
    WHERE s.company_id = company AND s.call_id = held.call_id
      AND s.call_limit_id = held.call_limit_id;

  SELECT coalesce(json_agg(json_build_object('id', g.id, 'seen_at', g.seen_at)), '[]') INTO gone
    FROM (
      SELECT
        c.id,
        coalesce(max(s.seen_at), greatest(c.updated_at, max(m.answered_at))) AS seen_at
      FROM calls c
      LEFT JOIN call_slots s ON s.company_id = c.company_id AND s.call_id = c.id
      LEFT JOIN switch_commands m
        ON c.direction = 'outbound' AND m.company_id = c.company_id AND m.call_id = c.id
        AND m.command = 'originate'
      WHERE c.company_id = company AND c.switch_id = the_switch AND c.ended_at IS NULL
        AND c.id <> ALL (coalesce(live_ids, '{}'))
        AND (c.status <> 'queued' OR c.direction = 'inbound' OR m.result IS NOT NULL)
      GROUP BY c.id, c.updated_at
    ) g
    WHERE is_restart OR g.seen_at <= last_sync;

  UPDATE switches s
    SET boot_id = new_boot, synced_at = at
    WHERE s.company_id = company AND s.id = the_switch;
END $$;
