-- How many calls are of a kind that lists are asked for, and many are: kept beside the number of all of them.
CREATE FUNCTION count_call() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  was_there CONSTANT boolean := OLD.id IS NOT NULL AND OLD.deleted_at IS NULL;
  is_there CONSTANT boolean := NEW.id IS NOT NULL AND NEW.deleted_at IS NULL;
BEGIN
  INSERT INTO record_counts (company_id, resource, slot, n)
    SELECT coalesce(NEW.company_id, OLD.company_id), 'calls/' || x.kind, pg_backend_pid() % 16, (is_there AND x.holds)::int - (was_there AND x.held)::int
    FROM (VALUES
      ('buyer_converted', OLD.buyer_converted, NEW.buyer_converted),
      ('either_converted', OLD.buyer_converted OR OLD.traffic_source_converted, NEW.buyer_converted OR NEW.traffic_source_converted),
      ('has_recording', OLD.recording_url IS NOT NULL, NEW.recording_url IS NOT NULL),
      ('no_buyer', OLD.buyer_id IS NULL, NEW.buyer_id IS NULL),
      ('offer_converted', OLD.traffic_source_converted, NEW.traffic_source_converted),
      ('outbound', OLD.direction = 'outbound', NEW.direction = 'outbound')
    ) AS x (kind, held, holds) WHERE (is_there AND x.holds) <> (was_there AND x.held)
    ORDER BY x.kind
    ON CONFLICT (company_id, resource, slot) DO UPDATE SET n = record_counts.n + excluded.n;
  RETURN NULL;
END $$;

-- At the end of a transaction: whoever waits for a count then waits for nothing else that another could hold.
CREATE CONSTRAINT TRIGGER count_new_call AFTER INSERT ON "calls" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (NEW.buyer_id IS NULL OR NEW.recording_url IS NOT NULL OR NEW.buyer_converted OR NEW.traffic_source_converted OR NEW.direction = 'outbound')
  EXECUTE FUNCTION count_call();
CREATE CONSTRAINT TRIGGER count_changed_call AFTER UPDATE ON "calls" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (OLD.deleted_at IS DISTINCT FROM NEW.deleted_at OR OLD.buyer_converted <> NEW.buyer_converted OR OLD.traffic_source_converted <> NEW.traffic_source_converted
    OR (OLD.recording_url IS NULL) <> (NEW.recording_url IS NULL) OR (OLD.buyer_id IS NULL) <> (NEW.buyer_id IS NULL))
  EXECUTE FUNCTION count_call();
CREATE CONSTRAINT TRIGGER count_lost_call AFTER DELETE ON "calls" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION count_call();

INSERT INTO record_counts (company_id, resource, slot, n)
  SELECT company_id, 'calls/' || x.kind, 0, count(*) FROM calls, LATERAL (VALUES ('buyer_converted', buyer_converted), ('either_converted', buyer_converted OR traffic_source_converted),
    ('has_recording', recording_url IS NOT NULL), ('no_buyer', buyer_id IS NULL), ('offer_converted', traffic_source_converted), ('outbound', direction = 'outbound')) AS x (kind, holds)
  WHERE deleted_at IS NULL AND x.holds GROUP BY 1, 2;

-- Nearly all calls of the one kind are of the other: one index does for both.
DROP INDEX "calls_buyer_converted_idx";
DROP INDEX "calls_traffic_source_converted_idx";
CREATE INDEX "calls_either_converted_idx" ON "calls"("company_id", "id") WHERE (deleted_at IS NULL AND (buyer_converted OR traffic_source_converted));
CREATE INDEX "calls_no_buyer_idx" ON "calls"("company_id", "id") WHERE (deleted_at IS NULL AND buyer_id IS NULL);
CREATE INDEX "calls_outbound_idx" ON "calls"("company_id", "id") WHERE (deleted_at IS NULL AND direction = 'outbound');
