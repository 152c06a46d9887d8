-- The counts here have several rows (slots), whose sum counts. Whoever counts takes a row that no
-- other transaction holds, or adds one: nobody waits, so a count may be written at any time in a
-- transaction, and with any other lock.

-- Keeps the number of calls of those kinds that lists are filtered by and that many calls are of,
-- in addition to the number of all calls. `was` is null for a new call, `now` for a deleted one.
CREATE OR REPLACE FUNCTION count_call_kinds(was calls, now calls) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  company CONSTANT bigint := coalesce(now.company_id, was.company_id);
  existed CONSTANT boolean := was.id IS NOT NULL AND was.deleted_at IS NULL;
  exists_now CONSTANT boolean := now.id IS NOT NULL AND now.deleted_at IS NULL;
  moved record;
BEGIN
  FOR moved IN
    SELECT
      'calls/' || x.kind AS resource,
      (exists_now AND x.is_now)::int - (existed AND x.was)::int AS n
    FROM (
      VALUES
        ('buyer_converted', was.buyer_converted, now.buyer_converted),
        (
          'either_converted',
          was.buyer_converted OR was.traffic_source_converted,
          now.buyer_converted OR now.traffic_source_converted
        ),
        ('has_recording', was.recording_url IS NOT NULL, now.recording_url IS NOT NULL),
        ('no_buyer', was.buyer_id IS NULL, now.buyer_id IS NULL),
        ('offer_converted', was.traffic_source_converted, now.traffic_source_converted),
        ('outbound', was.direction = 'outbound', now.direction = 'outbound')
    ) AS x (kind, was, is_now)
    WHERE (exists_now AND x.is_now) <> (existed AND x.was)
  LOOP
    UPDATE record_counts c
      SET n = c.n + moved.n
      WHERE c.company_id = company AND c.resource = moved.resource
        AND c.slot = (
          SELECT f.slot
          FROM record_counts f
          WHERE f.company_id = company AND f.resource = moved.resource
          LIMIT 1
          FOR NO KEY UPDATE SKIP LOCKED
        );
    IF NOT FOUND THEN
      INSERT INTO record_counts AS c (company_id, resource, slot, n)
        VALUES (company, moved.resource, random() * 2147483647, moved.n)
        ON CONFLICT (company_id, resource, slot) DO UPDATE SET n = c.n + excluded.n;
    END IF;
  END LOOP;
END $$;
