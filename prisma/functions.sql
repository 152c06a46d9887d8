-- All functions and triggers of the database. Applied with the pending migrations in the
-- transaction of the last one, and by itself when only this file has changed
-- (src/db/migrate.ts): every statement must be repeatable.
--
-- Renaming or removing a function or trigger, or changing the parameters or the result of a
-- function, also needs a migration that drops the old one: a repeat of this file does not.
--
-- All triggers here are deferred to the end of the transaction. They write rows that many
-- transactions share; at the end, a transaction that waits for such a row no longer needs a lock
-- that another one holds, so that they cannot block each other for good.

-- ---------------------------------------------------------------------------------------------
-- Companies
-- ---------------------------------------------------------------------------------------------

-- Deletes a company with all its rows. One statement deletes from every table that has a
-- company_id: foreign keys are checked at its end, so that their order does not matter. It runs
-- twice, because the triggers of the rows that it deletes write rows of their own.
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
  SET CONSTRAINTS ALL IMMEDIATE;
  EXECUTE delete_rows USING doomed;
  DELETE FROM companies WHERE id = doomed;
END
$$;

-- ---------------------------------------------------------------------------------------------
-- Time
-- ---------------------------------------------------------------------------------------------

-- The minute of the week in a time zone; Sunday 00:00 is 0.
CREATE OR REPLACE FUNCTION local_minute_of_week(at timestamptz, zone text) RETURNS integer
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT (
    extract(dow FROM at AT TIME ZONE zone) * 1440
    + extract(hour FROM at AT TIME ZONE zone) * 60
    + extract(minute FROM at AT TIME ZONE zone)
  )::integer
$$;

-- Whether a schedule is open. `open_minutes` are the minutes of the week at which it opens and
-- closes in turn (src/schedules/hours.ts); without any it is always open.
CREATE OR REPLACE FUNCTION is_open(open_minutes integer[], minute_of_week integer) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT cardinality(open_minutes) = 0 OR width_bucket(minute_of_week, open_minutes) % 2 = 1
$$;

-- ISO 8601 with milliseconds and the numeric UTC offset of a time zone.
CREATE OR REPLACE FUNCTION iso_local(at timestamptz, zone text) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT to_char(at AT TIME ZONE zone, 'YYYY-MM-DD"T"HH24:MI:SS.MS')
    || to_char(
      make_interval(
        secs => abs(extract(epoch FROM (at AT TIME ZONE zone) - (at AT TIME ZONE 'UTC')))
      ),
      CASE
        WHEN (at AT TIME ZONE zone) < (at AT TIME ZONE 'UTC') THEN '"-"HH24:MI'
        ELSE '"+"HH24:MI'
      END
    )
$$;

-- When the next local hour, day or month of a time zone begins. A day of 23 or 25 hours is one day.
CREATE OR REPLACE FUNCTION next_hour(at timestamptz, zone text) RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT date_trunc('hour', at, zone) + interval '1 hour'
$$;

CREATE OR REPLACE FUNCTION next_day(at timestamptz, zone text) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT (date_trunc('day', at AT TIME ZONE zone) + interval '1 day') AT TIME ZONE zone
$$;

CREATE OR REPLACE FUNCTION next_month(at timestamptz, zone text) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT (date_trunc('month', at AT TIME ZONE zone) + interval '1 month') AT TIME ZONE zone
$$;

-- ---------------------------------------------------------------------------------------------
-- Caps. PostgreSQL replaces a call of these functions by their expression (it inlines them), so
-- that they cost nothing: keep them single expressions that name `used` at most twice.
-- ---------------------------------------------------------------------------------------------

-- What is used of a cap at an instant: nothing once its window has ended, although the counter is
-- not reset before the next use.
CREATE OR REPLACE FUNCTION used_now(used anyelement, resets_at timestamptz, at timestamptz)
RETURNS anyelement LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN resets_at > at THEN used ELSE 0 END
$$;

-- Whether a cap can take `added`. One that is used up takes nothing, not even 0: no call is dialed
-- to a buyer whose conversions are used up.
CREATE OR REPLACE FUNCTION has_room(
  cap_limit anycompatible,
  used anycompatible,
  added anycompatible
) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT cap_limit IS NULL OR used < cap_limit AND used + added <= cap_limit
$$;

-- Fails the statement when caps that it must reserve had no room: they are the detail.
CREATE OR REPLACE FUNCTION require_caps(wanted bigint[], reserved bigint[]) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  refused CONSTANT bigint[] := ARRAY(SELECT unnest(wanted) EXCEPT SELECT unnest(reserved));
BEGIN
  IF cardinality(refused) > 0 THEN
    RAISE EXCEPTION 'caps have no room' USING ERRCODE = 'TL001', DETAIL = refused::text;
  END IF;
  RETURN true;
END $$;

-- Fails the statement, as if the call were there already, when another transaction is beginning
-- the call of this id: a statement for many calls does not wait for it. The lock is that of
-- src/calls/queries/calls.ts.
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

-- ---------------------------------------------------------------------------------------------
-- Callers who are paid for once
-- ---------------------------------------------------------------------------------------------

-- Both are volatile: each looks at what is committed when it is called, not when the statement that
-- calls it began. So a statement that has waited for a lock sees what its former holder has
-- written.

-- Whether the buyer has paid for the caller since an instant. Of two calls of one caller the second
-- waits, if whoever asks has locked the buyer's caps.
CREATE OR REPLACE FUNCTION has_buyer_paid(
  company bigint, buyer bigint, number bigint, since timestamptz
) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN EXISTS (
    SELECT FROM conversions v
    WHERE v.company_id = company
      AND v.caller_number = number
      AND v.buyer_id = buyer
      AND v.created_at > since
      AND v.returned_at IS NULL
  );
END $$;

-- Whether the source of another call of this caller for this offer was paid since an instant. Of
-- two calls of one caller the second waits until the first is written. The number keeps these
-- advisory locks apart from those of other statements.
CREATE OR REPLACE FUNCTION was_source_paid(
  company bigint, offer bigint, number bigint, except_call bigint, since timestamptz
) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(
    hashtextextended(concat_ws('/', company, coalesce(offer::text, 'null'), number), 4108)
  );
  RETURN EXISTS (
    SELECT FROM calls c
    WHERE c.company_id = company
      AND c.caller_number = number
      AND c.offer_id = offer
      AND c.traffic_source_converted
      AND c.id <> except_call
      AND c.created_at > since
  );
END $$;

-- ---------------------------------------------------------------------------------------------
-- Makers: limited users whose records act later, and may then do no more than their makers
-- ---------------------------------------------------------------------------------------------

-- Those of the teams with which a record was made that its maker is still in, and that still give
-- one of these permissions. None once the maker is deleted.
CREATE OR REPLACE FUNCTION maker_teams(
  company bigint,
  maker bigint,
  teams bigint[],
  wanted text[]
) RETURNS bigint[] LANGUAGE sql STABLE AS $$
  SELECT coalesce(array_agg(t.id ORDER BY t.id), '{}')
  FROM access_control_list_users m
  JOIN users u ON u.company_id = m.company_id AND u.id = m.user_id AND u.deleted_at IS NULL
  JOIN access_control_lists t
    ON t.company_id = m.company_id AND t.id = m.access_control_list_id AND t.deleted_at IS NULL
  WHERE m.company_id = company AND m.user_id = maker AND t.id = ANY (teams)
    AND (t.superuser OR t.permissions && wanted)
$$;

-- Whether one of these teams is granted the offer.
CREATE OR REPLACE FUNCTION maker_has_offer(
  company bigint,
  maker bigint,
  teams bigint[],
  wanted text[],
  offer bigint
) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (
    SELECT FROM access_control_list_offers g
    WHERE g.company_id = company AND g.offer_id = offer
      AND g.access_control_list_id = ANY (maker_teams(company, maker, teams, wanted))
  )
$$;

-- ---------------------------------------------------------------------------------------------
-- Routing changes: when the configuration that calls are routed by was last changed
-- ---------------------------------------------------------------------------------------------

-- Counts a transaction that changes the routing of a company, once per transaction. There are 16
-- slots, so that transactions on different connections rarely wait for each other.
CREATE OR REPLACE FUNCTION record_routing_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  company CONSTANT bigint := coalesce(NEW.company_id, OLD.company_id);
  mark CONSTANT text := company || '/' || pg_current_xact_id();
BEGIN
  IF current_setting('trunkline.routing_changed', true) IS DISTINCT FROM mark THEN
    INSERT INTO routing_changes (company_id, slot, n)
      VALUES (company, pg_backend_pid() % 16, 1)
      ON CONFLICT (company_id, slot) DO UPDATE SET n = routing_changes.n + 1;
    PERFORM set_config('trunkline.routing_changed', mark, true);
  END IF;
  RETURN NULL;
END $$;

DROP TRIGGER IF EXISTS routing_change ON buyers;
CREATE CONSTRAINT TRIGGER routing_change
  AFTER INSERT OR UPDATE OR DELETE ON buyers
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION record_routing_change();

DROP TRIGGER IF EXISTS routing_change ON buyer_groups;
CREATE CONSTRAINT TRIGGER routing_change
  AFTER INSERT OR UPDATE OR DELETE ON buyer_groups
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION record_routing_change();

DROP TRIGGER IF EXISTS routing_change ON buyer_group_members;
CREATE CONSTRAINT TRIGGER routing_change
  AFTER INSERT OR UPDATE OR DELETE ON buyer_group_members
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION record_routing_change();

DROP TRIGGER IF EXISTS routing_change ON buyer_business_hours;
CREATE CONSTRAINT TRIGGER routing_change
  AFTER INSERT OR UPDATE OR DELETE ON buyer_business_hours
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION record_routing_change();

DROP TRIGGER IF EXISTS routing_change ON buyer_conversions;
CREATE CONSTRAINT TRIGGER routing_change
  AFTER INSERT OR UPDATE OR DELETE ON buyer_conversions
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION record_routing_change();

DROP TRIGGER IF EXISTS routing_change ON offer_buyers;
CREATE CONSTRAINT TRIGGER routing_change
  AFTER INSERT OR UPDATE OR DELETE ON offer_buyers
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION record_routing_change();

DROP TRIGGER IF EXISTS routing_change ON offer_buyer_groups;
CREATE CONSTRAINT TRIGGER routing_change
  AFTER INSERT OR UPDATE OR DELETE ON offer_buyer_groups
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION record_routing_change();

-- Buyers display a number as their caller id: only these columns matter to them. The others change
-- whenever a lead is given a number.
DROP TRIGGER IF EXISTS routing_change ON numbers;
CREATE CONSTRAINT TRIGGER routing_change
  AFTER UPDATE OF phone_number, deleted_at OR DELETE ON numbers
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION record_routing_change();

-- Pre-dial webhooks can exclude a buyer, which makes them part of the routing.
DROP TRIGGER IF EXISTS routing_change_on_insert ON outgoing_webhooks;
CREATE CONSTRAINT TRIGGER routing_change_on_insert
  AFTER INSERT ON outgoing_webhooks
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (NEW.trigger_type = 'before_buyer_dialled')
  EXECUTE FUNCTION record_routing_change();

DROP TRIGGER IF EXISTS routing_change_on_update ON outgoing_webhooks;
CREATE CONSTRAINT TRIGGER routing_change_on_update
  AFTER UPDATE ON outgoing_webhooks
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (
    OLD.trigger_type = 'before_buyer_dialled' OR NEW.trigger_type = 'before_buyer_dialled'
  )
  EXECUTE FUNCTION record_routing_change();

-- ---------------------------------------------------------------------------------------------
-- Counts of calls
-- ---------------------------------------------------------------------------------------------

-- Keeps the number of calls of those kinds that lists are filtered by and that many calls are of,
-- in addition to the number of all calls.
CREATE OR REPLACE FUNCTION count_call_kinds() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  existed CONSTANT boolean := OLD.id IS NOT NULL AND OLD.deleted_at IS NULL;
  exists_now CONSTANT boolean := NEW.id IS NOT NULL AND NEW.deleted_at IS NULL;
BEGIN
  INSERT INTO record_counts (company_id, resource, slot, n)
    SELECT
      coalesce(NEW.company_id, OLD.company_id),
      'calls/' || x.kind,
      pg_backend_pid() % 16,
      (exists_now AND x.is_now)::int - (existed AND x.was)::int
    FROM (
      VALUES
        ('buyer_converted', OLD.buyer_converted, NEW.buyer_converted),
        (
          'either_converted',
          OLD.buyer_converted OR OLD.traffic_source_converted,
          NEW.buyer_converted OR NEW.traffic_source_converted
        ),
        ('has_recording', OLD.recording_url IS NOT NULL, NEW.recording_url IS NOT NULL),
        ('no_buyer', OLD.buyer_id IS NULL, NEW.buyer_id IS NULL),
        ('offer_converted', OLD.traffic_source_converted, NEW.traffic_source_converted),
        ('outbound', OLD.direction = 'outbound', NEW.direction = 'outbound')
    ) AS x (kind, was, is_now)
    WHERE (exists_now AND x.is_now) <> (existed AND x.was)
    ORDER BY x.kind
    ON CONFLICT (company_id, resource, slot) DO UPDATE SET n = record_counts.n + excluded.n;
  RETURN NULL;
END $$;

DROP TRIGGER IF EXISTS call_counts_on_insert ON calls;
CREATE CONSTRAINT TRIGGER call_counts_on_insert
  AFTER INSERT ON calls
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (
    NEW.buyer_id IS NULL
    OR NEW.recording_url IS NOT NULL
    OR NEW.buyer_converted
    OR NEW.traffic_source_converted
    OR NEW.direction = 'outbound'
  )
  EXECUTE FUNCTION count_call_kinds();

DROP TRIGGER IF EXISTS call_counts_on_update ON calls;
CREATE CONSTRAINT TRIGGER call_counts_on_update
  AFTER UPDATE ON calls
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (
    OLD.deleted_at IS DISTINCT FROM NEW.deleted_at
    OR OLD.buyer_converted <> NEW.buyer_converted
    OR OLD.traffic_source_converted <> NEW.traffic_source_converted
    OR (OLD.recording_url IS NULL) <> (NEW.recording_url IS NULL)
    OR (OLD.buyer_id IS NULL) <> (NEW.buyer_id IS NULL)
  )
  EXECUTE FUNCTION count_call_kinds();

DROP TRIGGER IF EXISTS call_counts_on_delete ON calls;
CREATE CONSTRAINT TRIGGER call_counts_on_delete
  AFTER DELETE ON calls
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION count_call_kinds();

-- A call that was created some minutes ago has settled: what is then written of it, and can be seen
-- by a filter of calls, is recorded with its transaction, so that counts of other chunks of ids
-- stay right (db/settled-counts.ts). The last writer of a row is the last to commit. What begins
-- and soon ends, as nearly every call does, does not get here.
CREATE OR REPLACE FUNCTION record_settled_call() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO call_changes (company_id, chunk, slot, xid)
    SELECT x.company_id, x.id / 8192, pg_backend_pid() % 16, pg_current_xact_id()
    FROM (VALUES (OLD.company_id, OLD.id), (NEW.company_id, NEW.id)) AS x (company_id, id)
    -- The company is gone where it is deleted.
    JOIN companies c ON c.id = x.company_id
    GROUP BY 1, 2
    ORDER BY 1, 2
    ON CONFLICT (company_id, chunk, slot) DO UPDATE SET xid = excluded.xid;
  RETURN NULL;
END $$;

DROP TRIGGER IF EXISTS settled_call_on_insert ON calls;
CREATE CONSTRAINT TRIGGER settled_call_on_insert
  AFTER INSERT ON calls
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (NEW.created_at < clock_timestamp() - interval '10 minutes')
  EXECUTE FUNCTION record_settled_call();

DROP TRIGGER IF EXISTS settled_call_on_update ON calls;
CREATE CONSTRAINT TRIGGER settled_call_on_update
  AFTER UPDATE ON calls
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (
    -- Whatever its age: a call that has left its chunk cannot be seen there as a young one.
    OLD.id <> NEW.id
    OR OLD.deleted_at IS DISTINCT FROM NEW.deleted_at
    OR least(OLD.created_at, NEW.created_at) < clock_timestamp() - interval '10 minutes'
    AND (
      OLD.created_at, OLD.ended_at, OLD.caller_number, OLD.status,
      OLD.direction, OLD.buyer_converted, OLD.traffic_source_converted, OLD.recording_url,
      OLD.offer_id, OLD.buyer_id, OLD.traffic_source_id, OLD.schedule_id, OLD.number_id,
      OLD.lead_id, OLD.token_values
    ) IS DISTINCT FROM (
      NEW.created_at, NEW.ended_at, NEW.caller_number, NEW.status,
      NEW.direction, NEW.buyer_converted, NEW.traffic_source_converted, NEW.recording_url,
      NEW.offer_id, NEW.buyer_id, NEW.traffic_source_id, NEW.schedule_id, NEW.number_id,
      NEW.lead_id, NEW.token_values
    )
  )
  EXECUTE FUNCTION record_settled_call();

DROP TRIGGER IF EXISTS settled_call_on_delete ON calls;
CREATE CONSTRAINT TRIGGER settled_call_on_delete
  AFTER DELETE ON calls
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION record_settled_call();

-- Keeps how many calls a traffic source has sent, and when the last one came.
CREATE OR REPLACE FUNCTION count_traffic_source_calls() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO traffic_source_call_counts (
    company_id, traffic_source_id, slot, n, last_call_at
  )
    SELECT
      x.company_id, x.traffic_source_id, pg_backend_pid() % 16, sum(x.n), max(x.called_at)
    FROM (
      SELECT
        OLD.company_id AS company_id, OLD.traffic_source_id AS traffic_source_id,
        -1 AS n, NULL::timestamptz AS called_at
      WHERE OLD.id IS NOT NULL AND OLD.deleted_at IS NULL
      UNION ALL
      SELECT NEW.company_id, NEW.traffic_source_id, 1, NEW.created_at
      WHERE NEW.id IS NOT NULL AND NEW.deleted_at IS NULL
    ) x
    -- The source is gone where a company is deleted.
    JOIN traffic_sources s
      ON s.company_id = x.company_id AND s.id = x.traffic_source_id
    GROUP BY x.company_id, x.traffic_source_id
    ORDER BY x.company_id, x.traffic_source_id
    ON CONFLICT (company_id, traffic_source_id, slot) DO UPDATE SET
      n = traffic_source_call_counts.n + excluded.n,
      last_call_at = greatest(traffic_source_call_counts.last_call_at, excluded.last_call_at);
  RETURN NULL;
END $$;

DROP TRIGGER IF EXISTS traffic_source_calls_on_insert ON calls;
CREATE CONSTRAINT TRIGGER traffic_source_calls_on_insert
  AFTER INSERT ON calls
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (NEW.traffic_source_id IS NOT NULL)
  EXECUTE FUNCTION count_traffic_source_calls();

DROP TRIGGER IF EXISTS traffic_source_calls_on_update ON calls;
CREATE CONSTRAINT TRIGGER traffic_source_calls_on_update
  AFTER UPDATE ON calls
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (
    OLD.traffic_source_id IS DISTINCT FROM NEW.traffic_source_id
    OR OLD.deleted_at IS DISTINCT FROM NEW.deleted_at
  )
  EXECUTE FUNCTION count_traffic_source_calls();

DROP TRIGGER IF EXISTS traffic_source_calls_on_delete ON calls;
CREATE CONSTRAINT TRIGGER traffic_source_calls_on_delete
  AFTER DELETE ON calls
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (OLD.traffic_source_id IS NOT NULL)
  EXECUTE FUNCTION count_traffic_source_calls();

-- ---------------------------------------------------------------------------------------------
-- How many leads have a next action, by hour
-- ---------------------------------------------------------------------------------------------

CREATE OR REPLACE FUNCTION next_action_hour(
  due_at timestamptz, callback_at timestamptz, next_action_at timestamptz
) RETURNS timestamptz LANGUAGE sql STABLE AS $$
  SELECT CASE
    WHEN due_at IS NOT NULL THEN date_trunc('hour', coalesce(callback_at, next_action_at), 'UTC')
  END
$$;

-- Replaces the rows of these hours by one for each. What another transaction is replacing is left
-- to it: nobody waits. It needs READ COMMITTED, as all of the service does.
CREATE OR REPLACE FUNCTION fold_next_actions(of_company bigint, hours timestamptz[])
RETURNS void LANGUAGE sql AS $$
  WITH taken AS MATERIALIZED (
    SELECT c.company_id, c.hour, c.id
    FROM next_action_counts c
    WHERE c.company_id = of_company AND c.hour = ANY (hours)
    FOR UPDATE SKIP LOCKED
  ),
  removed AS (
    DELETE FROM next_action_counts c
    USING taken t
    WHERE c.company_id = t.company_id AND c.hour = t.hour AND c.id = t.id
    RETURNING c.company_id, c.hour, c.n
  )
  INSERT INTO next_action_counts (company_id, hour, n)
  SELECT company_id, hour, sum(n)
  FROM removed
  GROUP BY company_id, hour
  HAVING sum(n) <> 0
$$;

-- The count of an hour is the sum of its rows. Leads that come or go add a row, so that writers
-- share none, and none waits for another; one in sixteen folds the rows of its hours. `was` and
-- `is_now` are hours of one company; leads that are made together are counted together.
CREATE OR REPLACE FUNCTION count_next_actions(
  company bigint, was timestamptz[], is_now timestamptz[]
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO next_action_counts (company_id, hour, n)
    SELECT company, x.hour, sum(x.n)
    FROM (
      SELECT unnest(was) AS hour, -1 AS n
      UNION ALL
      SELECT unnest(is_now), 1
    ) x
    WHERE x.hour IS NOT NULL
    GROUP BY x.hour
    HAVING sum(x.n) <> 0;
  IF random() < 0.0625 THEN
    PERFORM fold_next_actions(company, was || is_now);
  END IF;
  RETURN true;
END $$;

-- ---------------------------------------------------------------------------------------------
-- What calls cost
-- ---------------------------------------------------------------------------------------------

-- Each begun minute costs what the company's setting says at the end of the call. Carriers may tell
-- the duration after the end.
CREATE OR REPLACE FUNCTION charge_service_cost() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  SELECT c.service_cost_per_minute * ceil(greatest(
      0,
      coalesce(
        NEW.total_duration::numeric,
        extract(epoch FROM NEW.ended_at - NEW.created_at)
      )
    ) / 60)
    INTO NEW.service_cost
    FROM companies c
    WHERE c.id = NEW.company_id;
  RETURN NEW;
END $$;

DROP TRIGGER IF EXISTS service_cost_on_insert ON calls;
CREATE TRIGGER service_cost_on_insert
  BEFORE INSERT ON calls FOR EACH ROW WHEN (NEW.ended_at IS NOT NULL)
  EXECUTE FUNCTION charge_service_cost();

DROP TRIGGER IF EXISTS service_cost_on_update ON calls;
CREATE TRIGGER service_cost_on_update
  BEFORE UPDATE OF ended_at, total_duration ON calls FOR EACH ROW
  WHEN (
    NEW.ended_at IS NOT NULL
    AND (OLD.ended_at, OLD.total_duration) IS DISTINCT FROM (NEW.ended_at, NEW.total_duration)
  )
  EXECUTE FUNCTION charge_service_cost();

-- A carrier tells what a call has cost some time after its end.
CREATE OR REPLACE FUNCTION queue_call_cost() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO call_cost_looks (company_id, call_id, due_at)
    VALUES (NEW.company_id, NEW.id, NEW.ended_at + interval '1 minute')
    ON CONFLICT (company_id, call_id) DO NOTHING;
  RETURN NULL;
END $$;

DROP TRIGGER IF EXISTS call_cost_on_insert ON calls;
CREATE TRIGGER call_cost_on_insert
  AFTER INSERT ON calls FOR EACH ROW
  WHEN (
    NEW.ended_at IS NOT NULL
    AND NEW.carrier_call_id IS NOT NULL
    AND NEW.carrier NOT IN ('sandbox', 'softswitch')
  )
  EXECUTE FUNCTION queue_call_cost();

DROP TRIGGER IF EXISTS call_cost_on_update ON calls;
CREATE TRIGGER call_cost_on_update
  AFTER UPDATE OF ended_at ON calls FOR EACH ROW
  WHEN (
    OLD.ended_at IS NULL
    AND NEW.ended_at IS NOT NULL
    AND NEW.carrier_call_id IS NOT NULL
    AND NEW.carrier NOT IN ('sandbox', 'softswitch')
  )
  EXECUTE FUNCTION queue_call_cost();

-- ---------------------------------------------------------------------------------------------
-- Webhook events
-- ---------------------------------------------------------------------------------------------

-- An event is recorded in the transaction that causes it: once per transaction, record and kind,
-- with the rows as they are at the end. A company without a webhook for the kind pays one look at
-- an index.

-- Whether the company has an active webhook for one of the kinds.
CREATE OR REPLACE FUNCTION has_webhook_for(company bigint, kinds text[]) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN EXISTS (
    SELECT FROM outgoing_webhooks w
    WHERE w.company_id = company
      AND w.trigger_type = ANY (kinds)
      AND w.deleted_at IS NULL
      AND NOT w.paused
  );
END $$;

-- Records an event of one kind if the company has a webhook for it.
CREATE OR REPLACE FUNCTION record_webhook_event(
  company bigint,
  event_kind text,
  record bigint,
  event_rows jsonb
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF has_webhook_for(company, ARRAY[event_kind]) THEN
    INSERT INTO webhook_events (
      company_id, kind, occurred_at, record_id, transaction_id, snapshot
    )
    VALUES (
      company, event_kind, now(), record, pg_current_xact_id()::text::bigint, event_rows
    )
    ON CONFLICT DO NOTHING;
  END IF;
END $$;

-- The rows of an event as they are now, by their nouns. With a call comes its lead.
CREATE OR REPLACE FUNCTION webhook_rows(
  company bigint,
  the_lead bigint,
  the_call bigint,
  the_attempt bigint,
  the_conversion bigint
) RETURNS jsonb LANGUAGE sql STABLE AS $$
  WITH call AS (SELECT * FROM calls WHERE company_id = company AND id = the_call)
  SELECT coalesce(jsonb_object_agg(x.name, x.content), '{}')
  FROM (
    VALUES
      (
        'lead',
        (
          SELECT to_jsonb(l)
          FROM leads l
          WHERE l.company_id = company
            AND l.id = coalesce(the_lead, (SELECT call.lead_id FROM call))
        )
      ),
      ('call', (SELECT to_jsonb(call) FROM call)),
      (
        'attempt',
        (
          SELECT to_jsonb(a)
          FROM call_attempts a
          WHERE a.company_id = company AND a.id = the_attempt
        )
      ),
      (
        'conversion',
        (
          SELECT to_jsonb(v)
          FROM conversions v
          WHERE v.company_id = company AND v.id = the_conversion
        )
      )
  ) AS x (name, content)
  WHERE x.content IS NOT NULL
$$;

-- Leads ----------------------------------------------------------------------------------------

-- What statements that write leads record of them, in the same statement
-- (src/leads/queries/record-leads.ts). A transaction may write a lead several times: the event has
-- the row as it was written last, so each write renews what the transaction has recorded before.
-- The setting says that it has recorded something.
CREATE OR REPLACE FUNCTION record_lead_events(the_lead leads, kinds text[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  event_rows CONSTANT jsonb := jsonb_build_object('lead', to_jsonb(the_lead));
BEGIN
  PERFORM record_webhook_event(the_lead.company_id, k.kind, the_lead.id, event_rows)
    FROM unnest(kinds) WITH ORDINALITY AS k (kind, n)
    ORDER BY k.n;
  PERFORM set_config('trunkline.lead_events', pg_current_xact_id()::text, true);
END $$;

CREATE OR REPLACE FUNCTION renew_lead_events(the_lead leads) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  UPDATE webhook_events
    SET snapshot = jsonb_build_object('lead', to_jsonb(the_lead))
    WHERE company_id = the_lead.company_id
      AND transaction_id = pg_current_xact_id()::text::bigint
      AND record_id = the_lead.id
      AND kind IN (
        'new_lead_created', 'lead_changed', 'contact_fields_changed', 'lead_opted_out'
      );
END $$;

-- A lead that a trigger of a schedule has started is no new one to triggers: it begins with the
-- schedules that led to it.
CREATE OR REPLACE FUNCTION record_new_lead(the_lead leads) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  IF the_lead.triggered_by = '{}' AND has_trigger_for(the_lead.company_id, 'lead_created') THEN
    INSERT INTO schedule_events (company_id, kind, lead_id)
      VALUES (the_lead.company_id, 'lead_created', the_lead.id);
  END IF;
  IF has_webhook_for(the_lead.company_id, ARRAY['new_lead_created']) THEN
    PERFORM record_lead_events(the_lead, ARRAY['new_lead_created']);
  END IF;
  RETURN true;
END $$;

-- A change of a lead. Of the engine's own state (next step, claim, position) only the hour of the
-- next action is of interest.
CREATE OR REPLACE FUNCTION record_lead_change(was leads, is_now leads) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  hour_was CONSTANT timestamptz :=
    next_action_hour(was.due_at, was.callback_at, was.next_action_at);
  hour_now CONSTANT timestamptz :=
    next_action_hour(is_now.due_at, is_now.callback_at, is_now.next_action_at);
  kinds text[];
BEGIN
  IF hour_was IS DISTINCT FROM hour_now THEN
    PERFORM count_next_actions(is_now.company_id, ARRAY[hour_was], ARRAY[hour_now]);
  END IF;
  IF current_setting('trunkline.lead_events', true) = pg_current_xact_id()::text THEN
    PERFORM renew_lead_events(is_now);
  END IF;
  IF was.status <> is_now.status
    OR was.buyer_converted <> is_now.buyer_converted
    OR was.offer_converted <> is_now.offer_converted
    OR was.revenue <> is_now.revenue
    OR was.payout <> is_now.payout
    OR was.deleted_at IS DISTINCT FROM is_now.deleted_at
    OR was.offer_id IS DISTINCT FROM is_now.offer_id
    OR was.schedule_id IS DISTINCT FROM is_now.schedule_id
    OR was.traffic_source_id IS DISTINCT FROM is_now.traffic_source_id
    OR was.buyer_id IS DISTINCT FROM is_now.buyer_id
    OR was.lead_priority IS DISTINCT FROM is_now.lead_priority
    OR was.expires_in IS DISTINCT FROM is_now.expires_in
    OR was.hours_to_expire IS DISTINCT FROM is_now.hours_to_expire
    OR was.max_contact_attempts IS DISTINCT FROM is_now.max_contact_attempts
    OR was.external_record_id IS DISTINCT FROM is_now.external_record_id
    OR was.callback_at IS DISTINCT FROM is_now.callback_at
    OR was.email IS DISTINCT FROM is_now.email
    OR was.contact_field_type IS DISTINCT FROM is_now.contact_field_type
    OR was.sub_id IS DISTINCT FROM is_now.sub_id
    OR was.data IS DISTINCT FROM is_now.data
  THEN
    kinds := ARRAY['lead_changed'];
    IF was.data IS DISTINCT FROM is_now.data OR was.email IS DISTINCT FROM is_now.email THEN
      kinds := kinds || 'contact_fields_changed'::text;
    END IF;
    IF is_now.status = 'opt_out' AND was.status <> 'opt_out' THEN
      kinds := kinds || 'lead_opted_out'::text;
    END IF;
    IF has_webhook_for(is_now.company_id, kinds) THEN
      PERFORM record_lead_events(is_now, kinds);
    END IF;
  END IF;
  RETURN true;
END $$;

-- A lead that a submission has created or changed. The statement locks the live lead first, to know
-- it as it was. One that was made meanwhile it cannot know: it begins again, and finds it.
CREATE OR REPLACE FUNCTION record_submitted_lead(was leads, is_now leads, is_new boolean)
RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF is_new THEN
    RETURN record_new_lead(is_now);
  END IF;
  IF was.id IS DISTINCT FROM is_now.id THEN
    RAISE EXCEPTION 'the lead was made meanwhile' USING ERRCODE = 'serialization_failure';
  END IF;
  RETURN record_lead_change(was, is_now);
END $$;

-- A number can opt out without a live lead: the event is then about its last lead, at the offer or
-- schedule where it opted out. An opt-out of a live lead is recorded with the change of the lead,
-- and whoever opts a number out stops its leads before it calls this.
CREATE OR REPLACE FUNCTION record_opt_out_of(
  company bigint, number bigint, at_offer bigint, in_schedule bigint
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF has_webhook_for(company, ARRAY['lead_opted_out']) THEN
    PERFORM record_webhook_event(
        l.company_id,
        'lead_opted_out',
        l.id,
        webhook_rows(l.company_id, l.id, NULL, NULL, NULL)
      )
      FROM (
        SELECT *
        FROM leads
        WHERE company_id = company
          AND caller_number = number
          AND (offer_id = at_offer OR schedule_id = in_schedule
            OR at_offer IS NULL AND in_schedule IS NULL)
          AND deleted_at IS NULL
        ORDER BY id DESC
        LIMIT 1
      ) l
      WHERE NOT EXISTS (
        SELECT FROM leads o
        WHERE o.company_id = company
          AND o.caller_number = number
          AND (o.offer_id = at_offer OR o.schedule_id = in_schedule
            OR at_offer IS NULL AND in_schedule IS NULL)
          AND o.is_live
      );
  END IF;
  RETURN true;
END $$;

-- Calls ----------------------------------------------------------------------------------------

-- A call of status "sending" has not started: its carrier has yet to be asked for it.
CREATE OR REPLACE FUNCTION record_call_events() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  starts CONSTANT boolean :=
    TG_OP = 'INSERT' OR (OLD.status = 'sending' AND NEW.status <> 'sending');
  ends CONSTANT boolean :=
    NEW.ended_at IS NOT NULL AND (TG_OP = 'INSERT' OR OLD.ended_at IS NULL);
  kinds text[] := '{}';
  returned bigint;
  event_rows jsonb;
BEGIN
  IF starts THEN
    kinds := kinds || 'new_call_started'::text;
  END IF;
  IF NEW.traffic_source_converted AND (TG_OP = 'INSERT' OR NOT OLD.traffic_source_converted) THEN
    kinds := kinds || 'offer_converted'::text;
  END IF;
  IF TG_OP = 'UPDATE' AND (
    OLD.buyer_converted AND NOT NEW.buyer_converted
    OR OLD.traffic_source_converted AND NOT NEW.traffic_source_converted
  ) THEN
    kinds := kinds || 'conversion_returned'::text;
    -- What the buyer no longer pays; none if only the payout was returned.
    SELECT max(v.id) INTO returned
      FROM conversions v
      WHERE v.company_id = NEW.company_id AND v.call_id = NEW.id
        AND OLD.buyer_converted AND NOT NEW.buyer_converted AND v.returned_at IS NOT NULL;
  END IF;
  IF ends THEN
    kinds := kinds || ARRAY['every_call', 'buyer_did_not_convert'];
  ELSIF TG_OP = 'UPDATE' AND OLD.ended_at IS NOT NULL AND NEW.updated_at > NEW.ended_at THEN
    kinds := kinds || 'call_changed'::text;
  END IF;
  IF has_webhook_for(NEW.company_id, kinds) THEN
    event_rows := webhook_rows(NEW.company_id, NULL, NEW.id, NULL, NULL);
    -- The state at the end of the transaction counts: the call may convert after it has ended.
    IF event_rows->'call'->>'connected_at' IS NULL
      OR (event_rows->'call'->>'buyer_converted')::boolean
    THEN
      kinds := array_remove(kinds, 'buyer_did_not_convert');
    END IF;
    PERFORM record_webhook_event(
        NEW.company_id,
        k.kind,
        NEW.id,
        CASE k.kind
          WHEN 'conversion_returned' THEN webhook_rows(NEW.company_id, NULL, NEW.id, NULL, returned)
          ELSE event_rows
        END
      )
      FROM unnest(kinds) WITH ORDINALITY AS k (kind, n)
      WHERE event_rows ? 'call'
      ORDER BY k.n;
  END IF;
  RETURN NULL;
END $$;

DROP TRIGGER IF EXISTS webhook_event_on_insert ON calls;
CREATE CONSTRAINT TRIGGER webhook_event_on_insert
  AFTER INSERT ON calls
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (NEW.status <> 'sending')
  EXECUTE FUNCTION record_call_events();

-- An update that ends a call sets updated_at to ended_at: it is not a change of an ended call.
DROP TRIGGER IF EXISTS webhook_event_on_update ON calls;
CREATE CONSTRAINT TRIGGER webhook_event_on_update
  AFTER UPDATE ON calls
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (
    (OLD.status = 'sending' AND NEW.status <> 'sending')
    OR (OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL)
    OR NEW.traffic_source_converted <> OLD.traffic_source_converted
    OR (OLD.buyer_converted AND NOT NEW.buyer_converted)
    OR (
      OLD.ended_at IS NOT NULL
      AND NEW.updated_at > NEW.ended_at
      AND (
        OLD.revenue <> NEW.revenue
        OR OLD.payout <> NEW.payout
        OR OLD.buyer_converted <> NEW.buyer_converted
        OR OLD.status <> NEW.status
        OR OLD.answered_duration IS DISTINCT FROM NEW.answered_duration
        OR OLD.total_duration IS DISTINCT FROM NEW.total_duration
        OR OLD.hangup_cause IS DISTINCT FROM NEW.hangup_cause
        OR OLD.recording_url IS DISTINCT FROM NEW.recording_url
        OR OLD.token_values IS DISTINCT FROM NEW.token_values
        OR OLD.provider_cost IS DISTINCT FROM NEW.provider_cost
        OR OLD.disposition_id IS DISTINCT FROM NEW.disposition_id
        OR OLD.disposition_notes IS DISTINCT FROM NEW.disposition_notes
        OR OLD.quality_assurance_name IS DISTINCT FROM NEW.quality_assurance_name
        OR OLD.agent_id IS DISTINCT FROM NEW.agent_id
      )
    )
  )
  EXECUTE FUNCTION record_call_events();

CREATE OR REPLACE FUNCTION record_attempt_event() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  kind CONSTANT text := CASE TG_OP WHEN 'INSERT' THEN 'buyer_dialled' ELSE 'buyer_answered' END;
BEGIN
  IF has_webhook_for(NEW.company_id, ARRAY[kind]) THEN
    PERFORM record_webhook_event(
      NEW.company_id,
      kind,
      NEW.id,
      webhook_rows(NEW.company_id, NULL, NEW.call_id, NEW.id, NULL)
    );
  END IF;
  RETURN NULL;
END $$;

DROP TRIGGER IF EXISTS webhook_event_on_insert ON call_attempts;
CREATE CONSTRAINT TRIGGER webhook_event_on_insert
  AFTER INSERT ON call_attempts
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION record_attempt_event();

DROP TRIGGER IF EXISTS webhook_event_on_answer ON call_attempts;
CREATE CONSTRAINT TRIGGER webhook_event_on_answer
  AFTER UPDATE OF answered_at ON call_attempts
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (OLD.answered_at IS NULL AND NEW.answered_at IS NOT NULL)
  EXECUTE FUNCTION record_attempt_event();

CREATE OR REPLACE FUNCTION record_conversion_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF has_webhook_for(NEW.company_id, ARRAY['buyer_converted']) THEN
    PERFORM record_webhook_event(
      NEW.company_id,
      'buyer_converted',
      NEW.id,
      webhook_rows(NEW.company_id, NULL, NEW.call_id, NULL, NEW.id)
    );
  END IF;
  RETURN NULL;
END $$;

DROP TRIGGER IF EXISTS webhook_event_on_insert ON conversions;
CREATE CONSTRAINT TRIGGER webhook_event_on_insert
  AFTER INSERT ON conversions
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION record_conversion_event();

-- ---------------------------------------------------------------------------------------------
-- What ends and starts schedules
-- ---------------------------------------------------------------------------------------------

-- A lead leaves its schedule in the statement that writes why (`reason`, one of exit_on of the
-- schedule; null for none): that statement passes the row that it has written, and gets it back as
-- it then is. Whoever is about to contact the lead waits for its row, and finds that the claim is
-- gone: after the event no step is done. Few writes come so far that the row is written again.
--
-- A text of the lead is a row of its own; who stores it writes its time to the lead. So does, for
-- calls, who handles the events below: a call does not wait for a lead that is being texted.
CREATE OR REPLACE FUNCTION leave_schedule(the_lead leads, reason text) RETURNS leads
LANGUAGE plpgsql AS $$
DECLARE
  has_left leads;
BEGIN
  IF reason IS NULL
    OR NOT the_lead.is_live
    OR the_lead.schedule_id IS NULL
    OR (the_lead.phase <> 'actions' AND reason <> 'opted_out')
    OR NOT EXISTS (
      SELECT FROM schedules s
      WHERE s.company_id = the_lead.company_id
        AND s.id = the_lead.schedule_id
        AND reason = ANY (s.exit_on)
    )
  THEN
    RETURN the_lead;
  END IF;
  UPDATE leads l
    SET
      phase = 'end',
      position = NULL,
      exit_reason = reason,
      callback_at = NULL,
      scheduled_callback_id = NULL,
      delay_reason = NULL,
      tries = 0,
      claim_id = NULL,
      is_live = reason <> 'opted_out',
      schedule_ended_at =
        CASE WHEN reason = 'opted_out' THEN l.updated_at ELSE l.schedule_ended_at END,
      next_action_at = CASE WHEN reason <> 'opted_out' THEN l.updated_at END,
      -- A lead that is stopped stays so.
      due_at = CASE WHEN reason <> 'opted_out' AND l.due_at IS NOT NULL THEN l.updated_at END,
      status = CASE
        WHEN reason <> 'opted_out' AND l.due_at IS NOT NULL AND l.status = 'waiting'
        THEN 'scheduled'
        ELSE l.status
      END
    WHERE l.company_id = the_lead.company_id AND l.id = the_lead.id
    RETURNING l.* INTO has_left;
  UPDATE scheduled_callbacks
    SET status = 'canceled'
    WHERE company_id = the_lead.company_id AND lead_id = the_lead.id AND status = 'pending';
  INSERT INTO lead_logs (company_id, created_at, lead_id, event, message)
    VALUES (the_lead.company_id, the_lead.updated_at, the_lead.id, 'left_schedule', reason);
  RETURN has_left;
END $$;

-- Whether a schedule of the company starts by events of a kind.
CREATE OR REPLACE FUNCTION has_trigger_for(company bigint, event_kind text) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN EXISTS (
    SELECT FROM schedules s
    WHERE s.company_id = company
      AND s.deleted_at IS NULL
      AND s.triggers <> '[]'
      AND s.triggers @> jsonb_build_array(jsonb_build_object('on', event_kind))
  );
END $$;

-- Records that something has happened, if a schedule of the company starts by it. A row lives until
-- the transaction that starts the schedules deletes it (src/leads/start-triggered.ts): each event
-- counts once.
CREATE OR REPLACE FUNCTION record_schedule_event(
  company bigint, event_kind text, the_lead bigint, the_call bigint, the_message bigint
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF has_trigger_for(company, event_kind) THEN
    INSERT INTO schedule_events (company_id, kind, lead_id, call_id, text_message_id)
      VALUES (company, event_kind, the_lead, the_call, the_message);
  END IF;
END $$;

CREATE OR REPLACE FUNCTION record_call_of_lead() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO schedule_events (company_id, kind, lead_id, call_id)
  SELECT l.company_id, 'inbound_call', l.id, NEW.id
  FROM leads l
  JOIN schedules s ON s.company_id = l.company_id AND s.id = l.schedule_id
  WHERE l.company_id = NEW.company_id AND l.id = NEW.lead_id AND l.is_live
    AND 'inbound_call' = ANY (s.exit_on);
  RETURN NULL;
END $$;

DROP TRIGGER IF EXISTS schedule_event_on_call ON calls;
CREATE CONSTRAINT TRIGGER schedule_event_on_call
  AFTER INSERT ON calls
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (NEW.direction = 'inbound' AND NEW.lead_id IS NOT NULL)
  EXECUTE FUNCTION record_call_of_lead();

-- The state at the end of the transaction counts: the call may convert after it has ended.
CREATE OR REPLACE FUNCTION record_end_of_call() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM record_schedule_event(
      c.company_id,
      CASE WHEN c.connected_at IS NULL THEN 'call_missed' ELSE 'call_not_converted' END,
      c.lead_id, c.id, NULL
    )
    FROM calls c
    WHERE c.company_id = NEW.company_id AND c.id = NEW.id
      AND NOT c.buyer_converted
      AND (c.connected_at IS NOT NULL OR c.direction = 'inbound');
  RETURN NULL;
END $$;

DROP TRIGGER IF EXISTS schedule_event_on_insert ON calls;
CREATE CONSTRAINT TRIGGER schedule_event_on_insert
  AFTER INSERT ON calls
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (NEW.ended_at IS NOT NULL)
  EXECUTE FUNCTION record_end_of_call();

DROP TRIGGER IF EXISTS schedule_event_on_end ON calls;
CREATE CONSTRAINT TRIGGER schedule_event_on_end
  AFTER UPDATE OF ended_at ON calls
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL)
  EXECUTE FUNCTION record_end_of_call();

CREATE OR REPLACE FUNCTION record_converted_call() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM record_schedule_event(NEW.company_id, 'call_converted', NEW.lead_id, NEW.id, NULL);
  RETURN NULL;
END $$;

DROP TRIGGER IF EXISTS schedule_event_on_conversion ON calls;
CREATE CONSTRAINT TRIGGER schedule_event_on_conversion
  AFTER UPDATE OF buyer_converted ON calls
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (NEW.buyer_converted AND NOT OLD.buyer_converted)
  EXECUTE FUNCTION record_converted_call();

-- Agents ---------------------------------------------------------------------------------------

-- An agent goes online or offline when its old and its new status differ in is_online.
CREATE OR REPLACE FUNCTION record_agent_event() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  was_online CONSTANT boolean :=
    OLD.id IS NOT NULL
    AND OLD.deleted_at IS NULL
    AND (
      SELECT s.is_online
      FROM agent_statuses s
      WHERE s.company_id = OLD.company_id AND s.id = OLD.agent_status_id
    );
  status record;
BEGIN
  SELECT s.key, s.is_online INTO status
    FROM agent_statuses s
    WHERE s.company_id = NEW.company_id AND s.id = NEW.agent_status_id;
  IF (status.is_online AND NEW.deleted_at IS NULL) IS DISTINCT FROM was_online THEN
    PERFORM record_webhook_event(
      NEW.company_id,
      CASE WHEN was_online THEN 'agent_offline' ELSE 'agent_online' END,
      NEW.id,
      jsonb_build_object(
        'agent',
        jsonb_build_object('id', NEW.id, 'user_id', NEW.user_id, 'status', status.key)
      )
    );
  END IF;
  RETURN NULL;
END $$;

DROP TRIGGER IF EXISTS webhook_event_on_insert ON agents;
CREATE CONSTRAINT TRIGGER webhook_event_on_insert
  AFTER INSERT ON agents
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION record_agent_event();

DROP TRIGGER IF EXISTS webhook_event_on_update ON agents;
CREATE CONSTRAINT TRIGGER webhook_event_on_update
  AFTER UPDATE OF agent_status_id, deleted_at ON agents
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (
    OLD.agent_status_id <> NEW.agent_status_id
    OR OLD.deleted_at IS DISTINCT FROM NEW.deleted_at
  )
  EXECUTE FUNCTION record_agent_event();

-- ---------------------------------------------------------------------------------------------
-- Value lists: the list that a filter names
-- ---------------------------------------------------------------------------------------------

-- The name of the list of a filter such as zip:in_list "My zips", in lower case; null for a filter
-- without one. src/tokens/filters.ts reads filters in the same way.
CREATE OR REPLACE FUNCTION value_list_of(filter text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT lower(btrim(
    (regexp_match(filter, '^[a-z0-9_]+:\s*(?:not[_\s]+)?in_list(?=[\s[(])\s*(.*)$', 'is'))[1],
    E' \t\r\n"''[]()'
  ))
$$;
