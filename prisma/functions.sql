-- All functions of the database. Applied with the pending migrations in the
-- transaction of the last one, and by itself when only this file has changed
-- (src/db/migrate.ts): every statement must be repeatable.
--
-- Renaming or removing a function, or changing the parameters or the result of a
-- function, also needs a migration that drops the old one: a repeat of this file does not.
--
-- There are no triggers: a distributed PostgreSQL has none. The statement that writes a row records
-- what follows from it, by a function of this file.

-- ---------------------------------------------------------------------------------------------
-- Companies
-- ---------------------------------------------------------------------------------------------

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

-- Ends the statement of a write that would change nothing of a record but when it was written: no
-- one made that change (src/db/write-log.ts).
CREATE OR REPLACE FUNCTION refuse_unchanged() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the record would not change' USING ERRCODE = 'UN001';
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
-- They are immutable, as a distributed PostgreSQL wants them in CASE: what the hour has left is
-- taken between times without a zone, because an hour that the clock repeats is two.
CREATE OR REPLACE FUNCTION next_hour(at timestamptz, zone text) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT (
    (at AT TIME ZONE 'UTC')
    + (date_trunc('hour', at AT TIME ZONE zone) - (at AT TIME ZONE zone))
    + interval '1 hour'
  ) AT TIME ZONE 'UTC'
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
-- Counts of calls
-- ---------------------------------------------------------------------------------------------

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

-- A call that was created some minutes ago has settled: what is then written of it, and can be seen
-- by a filter of calls, is recorded with its transaction, so that counts of other chunks of ids
-- stay right (db/settled-counts.ts). The last writer of a row is the last to commit. What begins
-- and soon ends, as nearly every call does, does not get here.
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
      was.lead_id, was.token_values
    ) IS DISTINCT FROM (
      now.created_at, now.ended_at, now.caller_number, now.status,
      now.direction, now.buyer_converted, now.traffic_source_converted, now.recording_url,
      now.offer_id, now.buyer_id, now.traffic_source_id, now.schedule_id, now.number_id,
      now.lead_id, now.token_values
    );
END $$;

-- Keeps how many calls a traffic source has sent, and when the last one came. `called_at` is null
-- where a call is subtracted.
CREATE OR REPLACE FUNCTION count_traffic_source_call(
  company bigint, source bigint, by integer, called_at timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF source IS NULL THEN
    RETURN;
  END IF;
  UPDATE traffic_source_call_counts c
    SET n = c.n + by, last_call_at = greatest(c.last_call_at, called_at)
    WHERE c.company_id = company AND c.traffic_source_id = source
      AND c.slot = (
        SELECT f.slot
        FROM traffic_source_call_counts f
        WHERE f.company_id = company AND f.traffic_source_id = source
        LIMIT 1
        FOR NO KEY UPDATE SKIP LOCKED
      );
  IF NOT FOUND THEN
    INSERT INTO traffic_source_call_counts AS c (
      company_id, traffic_source_id, slot, n, last_call_at
    )
      VALUES (company, source, random() * 2147483647, by, called_at)
      ON CONFLICT (company_id, traffic_source_id, slot) DO UPDATE SET
        n = c.n + excluded.n,
        last_call_at = greatest(c.last_call_at, excluded.last_call_at);
  END IF;
END $$;

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
-- Quotas of mails
-- ---------------------------------------------------------------------------------------------

-- Counts mails to these mailboxes, as far as the day has room for them: for all of the company, and
-- for each mailbox. Says for each what has no room; an empty text where the mail is counted. The row
-- of the company is locked first, by everybody who counts mails of it. 0 is no maximum.
CREATE OR REPLACE FUNCTION take_mails(
  company bigint, today date, mailboxes text[], company_max integer, mailbox_max integer
) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
  total integer;
  recipient text;
  refusal text;
  refusals text[] := '{}';
BEGIN
  INSERT INTO mail_counts AS c (company_id, day, mailbox, used)
    VALUES (company, today, '', 0)
    ON CONFLICT (company_id, day, mailbox) DO UPDATE SET used = c.used
    RETURNING c.used INTO total;
  FOREACH recipient IN ARRAY mailboxes LOOP
    refusal := '';
    IF company_max > 0 AND total >= company_max THEN
      refusal := 'company';
    ELSE
      INSERT INTO mail_counts AS c (company_id, day, mailbox, used)
        VALUES (company, today, recipient, 1)
        ON CONFLICT (company_id, day, mailbox) DO UPDATE SET used = c.used + 1
        WHERE mailbox_max = 0 OR c.used < mailbox_max;
      IF FOUND THEN
        total := total + 1;
      ELSE
        refusal := 'address';
      END IF;
    END IF;
    refusals := refusals || refusal;
  END LOOP;
  UPDATE mail_counts c
    SET used = total, refused = c.refused + cardinality(array_remove(refusals, ''))
    WHERE c.company_id = company AND c.day = today AND c.mailbox = '';
  RETURN refusals;
END $$;

-- ---------------------------------------------------------------------------------------------
-- What calls cost
-- ---------------------------------------------------------------------------------------------

-- Each begun minute costs what the company's setting says at the end of the call. Carriers may tell
-- the duration after the end: whoever writes the end or the duration of a call writes this too.
CREATE OR REPLACE FUNCTION service_cost_of(
  company bigint, seconds integer, began_at timestamptz, end_at timestamptz
) RETURNS numeric LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF end_at IS NULL THEN
    RETURN 0;
  END IF;
  RETURN (
    SELECT c.service_cost_per_minute * ceil(greatest(
      0, coalesce(seconds::numeric, extract(epoch FROM end_at - began_at))
    ) / 60)
    FROM companies c
    WHERE c.id = company
  );
END $$;

-- The same for a call whose duration and end are written.
CREATE OR REPLACE FUNCTION service_cost_after(was calls, seconds integer, end_at timestamptz)
RETURNS numeric LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF end_at IS NULL
    OR end_at IS NOT DISTINCT FROM was.ended_at
    AND seconds IS NOT DISTINCT FROM was.total_duration
  THEN
    RETURN was.service_cost;
  END IF;
  RETURN service_cost_of(was.company_id, seconds, was.created_at, end_at);
END $$;

-- A carrier tells what a call has cost some time after its end.
CREATE OR REPLACE FUNCTION queue_call_cost(call calls) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF call.carrier_call_id IS NOT NULL AND call.carrier NOT IN ('sandbox', 'softswitch') THEN
    INSERT INTO call_cost_looks (company_id, call_id, due_at)
      VALUES (call.company_id, call.id, call.ended_at + interval '1 minute')
      ON CONFLICT (company_id, call_id) DO NOTHING;
  END IF;
END $$;

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

-- A lead that comes from another service: nobody is told of it, and no schedule starts.
CREATE OR REPLACE FUNCTION record_moved_lead(the_lead leads) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  RETURN count_next_actions(
    the_lead.company_id,
    ARRAY[]::timestamptz[],
    ARRAY[next_action_hour(the_lead.due_at, the_lead.callback_at, the_lead.next_action_at)]
  );
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

-- What is to be recorded of a call is recorded by the statement that writes it: `was` is the row
-- before, `now` after. What these functions read besides (leads, conversions) must be written
-- before they are called. Within a transaction of several statements, complete_events() follows at
-- the end.

-- Records events of a call. "call_changed" is about a call that has ended.
CREATE OR REPLACE FUNCTION record_call_events(call calls, kinds text[], returned bigint)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  event_rows jsonb;
BEGIN
  IF NOT has_webhook_for(call.company_id, kinds) THEN
    RETURN;
  END IF;
  event_rows := webhook_rows(call.company_id, NULL, call.id, NULL, NULL);
  PERFORM record_webhook_event(
      call.company_id,
      k.kind,
      call.id,
      CASE k.kind
        WHEN 'conversion_returned' THEN webhook_rows(call.company_id, NULL, call.id, NULL, returned)
        ELSE event_rows
      END
    )
    FROM unnest(kinds) WITH ORDINALITY AS k (kind, n)
    ORDER BY k.n;
END $$;

-- What follows from the end of a call.
CREATE OR REPLACE FUNCTION kinds_of_end(call calls) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN CASE
    WHEN call.connected_at IS NULL OR call.buyer_converted THEN ARRAY['every_call']
    ELSE ARRAY['every_call', 'buyer_did_not_convert']
  END;
END $$;

-- Counts a new call. That is all that is recorded of one that comes from another service: nobody is
-- told of it, and it costs nothing here.
CREATE OR REPLACE FUNCTION record_moved_call(now calls) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF now.buyer_id IS NULL OR now.recording_url IS NOT NULL OR now.buyer_converted
    OR now.traffic_source_converted OR now.direction = 'outbound'
  THEN
    PERFORM count_call_kinds(NULL, now);
  END IF;
  IF now.traffic_source_id IS NOT NULL AND now.deleted_at IS NULL THEN
    PERFORM count_traffic_source_call(now.company_id, now.traffic_source_id, 1, now.created_at);
  END IF;
  IF now.created_at < clock_timestamp() - interval '10 minutes' THEN
    PERFORM record_settled_call(now.company_id, now.id);
  END IF;
  RETURN true;
END $$;

-- A call of status "sending" has not started: its carrier has yet to be asked for it.
CREATE OR REPLACE FUNCTION record_new_call(now calls) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  kinds text[];
BEGIN
  PERFORM record_moved_call(now);
  IF now.direction = 'inbound' AND now.lead_id IS NOT NULL THEN
    PERFORM record_call_of_lead(now);
  END IF;
  IF now.ended_at IS NOT NULL THEN
    PERFORM queue_call_cost(now);
    PERFORM record_end_of_call(now);
  END IF;
  IF now.status <> 'sending' THEN
    kinds := ARRAY['new_call_started'];
    IF now.traffic_source_converted THEN
      kinds := kinds || 'offer_converted'::text;
    END IF;
    IF now.ended_at IS NOT NULL THEN
      kinds := kinds || kinds_of_end(now);
    END IF;
    PERFORM record_call_events(now, kinds, NULL);
  END IF;
  RETURN true;
END $$;

-- A call converts that had ended before. If it was in the same transaction, the state at the end
-- counts: then it is not one that did not convert.
CREATE OR REPLACE FUNCTION forget_missing_conversion(call calls) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM webhook_events e
    WHERE e.company_id = call.company_id
      AND e.transaction_id = pg_current_xact_id()::text::bigint
      AND e.record_id = call.id
      AND e.kind = 'buyer_did_not_convert';
  DELETE FROM schedule_events e
    WHERE e.company_id = call.company_id
      AND e.call_id = call.id
      AND e.kind IN ('call_missed', 'call_not_converted')
      AND e.xmin = pg_current_xact_id()::xid;
END $$;

-- Whether the update of a call that has ended is more than a part of its end, which sets updated_at
-- to ended_at: it comes later, or tells the actual end of a call that was only considered over.
CREATE OR REPLACE FUNCTION is_change_after_end(was calls, now calls) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT now.updated_at > now.ended_at
    OR now.ended_at <> was.ended_at
    OR (was.connected_at IS NULL) <> (now.connected_at IS NULL)
$$;

-- What the webhooks of a change are about.
CREATE OR REPLACE FUNCTION record_events_of_change(was calls, now calls) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  kinds text[] := '{}';
  returned bigint;
BEGIN
  IF was.status = 'sending' AND now.status <> 'sending' THEN
    kinds := kinds || 'new_call_started'::text;
  END IF;
  IF now.traffic_source_converted AND NOT was.traffic_source_converted THEN
    kinds := kinds || 'offer_converted'::text;
  END IF;
  IF was.buyer_converted AND NOT now.buyer_converted
    OR was.traffic_source_converted AND NOT now.traffic_source_converted
  THEN
    kinds := kinds || 'conversion_returned'::text;
    -- What the buyer no longer pays; none if only the payout was returned.
    SELECT max(v.id) INTO returned
      FROM conversions v
      WHERE v.company_id = now.company_id AND v.call_id = now.id
        AND was.buyer_converted AND NOT now.buyer_converted AND v.returned_at IS NOT NULL;
  END IF;
  IF was.ended_at IS NULL AND now.ended_at IS NOT NULL THEN
    kinds := kinds || kinds_of_end(now);
  ELSIF was.ended_at IS NOT NULL AND is_change_after_end(was, now) THEN
    kinds := kinds || 'call_changed'::text;
    IF was.connected_at IS NULL AND now.connected_at IS NOT NULL AND NOT now.buyer_converted THEN
      kinds := kinds || 'buyer_did_not_convert'::text;
    END IF;
  END IF;
  IF kinds <> '{}' THEN
    PERFORM record_call_events(now, kinds, returned);
  END IF;
END $$;

-- Records a change of a call.
CREATE OR REPLACE FUNCTION record_call_change(was calls, now calls) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
  IF was.deleted_at IS DISTINCT FROM now.deleted_at
    OR was.buyer_converted <> now.buyer_converted
    OR was.traffic_source_converted <> now.traffic_source_converted
    OR (was.recording_url IS NULL) <> (now.recording_url IS NULL)
    OR (was.buyer_id IS NULL) <> (now.buyer_id IS NULL)
  THEN
    PERFORM count_call_kinds(was, now);
  END IF;
  IF was.traffic_source_id IS DISTINCT FROM now.traffic_source_id
    OR was.deleted_at IS DISTINCT FROM now.deleted_at
  THEN
    IF was.deleted_at IS NULL THEN
      PERFORM count_traffic_source_call(was.company_id, was.traffic_source_id, -1, NULL);
    END IF;
    IF now.deleted_at IS NULL THEN
      PERFORM count_traffic_source_call(now.company_id, now.traffic_source_id, 1, now.created_at);
    END IF;
  END IF;
  -- The first conditions are those that nearly every change fails: asking here saves a call.
  IF (
      was.id <> now.id
      OR was.deleted_at IS DISTINCT FROM now.deleted_at
      OR least(was.created_at, now.created_at) < clock_timestamp() - interval '10 minutes'
    )
    AND is_settled_change(was, now)
  THEN
    PERFORM record_settled_call(was.company_id, was.id);
    IF was.id / 8192 <> now.id / 8192 THEN
      PERFORM record_settled_call(now.company_id, now.id);
    END IF;
  END IF;
  IF was.ended_at IS NULL AND now.ended_at IS NOT NULL THEN
    PERFORM queue_call_cost(now);
    PERFORM record_end_of_call(now);
  END IF;
  IF now.buyer_converted AND NOT was.buyer_converted THEN
    IF was.ended_at IS NOT NULL THEN
      PERFORM forget_missing_conversion(now);
    END IF;
    PERFORM record_schedule_event(now.company_id, 'call_converted', now.lead_id, now.id, NULL);
  END IF;
  IF (was.status = 'sending' AND now.status <> 'sending')
    OR (was.ended_at IS NULL AND now.ended_at IS NOT NULL)
    OR now.traffic_source_converted <> was.traffic_source_converted
    OR (was.buyer_converted AND NOT now.buyer_converted)
    OR (
      was.ended_at IS NOT NULL
      AND is_change_after_end(was, now)
      AND (
        was.revenue, was.payout, was.buyer_converted, was.status, was.answered_duration,
        was.total_duration, was.hangup_cause, was.recording_url, was.token_values,
        was.provider_cost, was.disposition_id, was.disposition_notes,
        was.quality_assurance_name, was.agent_id
      ) IS DISTINCT FROM (
        now.revenue, now.payout, now.buyer_converted, now.status, now.answered_duration,
        now.total_duration, now.hangup_cause, now.recording_url, now.token_values,
        now.provider_cost, now.disposition_id, now.disposition_notes,
        now.quality_assurance_name, now.agent_id
      )
    )
  THEN
    PERFORM record_events_of_change(was, now);
  END IF;
  RETURN true;
END $$;

-- Records a call that was inserted, or changed because it was there.
CREATE OR REPLACE FUNCTION record_upserted_call(is_new boolean, was calls, now calls)
RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF is_new THEN
    RETURN record_new_call(now);
  ELSIF was.id IS NULL THEN
    RAISE EXCEPTION 'the call was inserted meanwhile' USING ERRCODE = 'serialization_failure';
  END IF;
  RETURN record_call_change(was, now);
END $$;

CREATE OR REPLACE FUNCTION record_deleted_call(was calls) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM count_call_kinds(was, NULL);
  IF was.deleted_at IS NULL THEN
    PERFORM count_traffic_source_call(was.company_id, was.traffic_source_id, -1, NULL);
  END IF;
  PERFORM record_settled_call(was.company_id, was.id);
  RETURN true;
END $$;

-- An attempt of a call was made (buyer_dialled), or was answered (buyer_answered).
CREATE OR REPLACE FUNCTION record_attempt_event(
  company bigint, event_kind text, the_call bigint, the_attempt bigint
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF has_webhook_for(company, ARRAY[event_kind]) THEN
    PERFORM record_webhook_event(
      company,
      event_kind,
      the_attempt,
      webhook_rows(company, NULL, the_call, the_attempt, NULL)
    );
  END IF;
  RETURN true;
END $$;

CREATE OR REPLACE FUNCTION record_conversion_event(
  company bigint, the_call bigint, the_conversion bigint
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  IF has_webhook_for(company, ARRAY['buyer_converted']) THEN
    PERFORM record_webhook_event(
      company,
      'buyer_converted',
      the_conversion,
      webhook_rows(company, NULL, the_call, NULL, the_conversion)
    );
  END IF;
  RETURN true;
END $$;

-- The end of a transaction that has recorded events and has gone on: they show the rows as they
-- are now (src/db/complete-events.ts).
CREATE OR REPLACE FUNCTION complete_events(company bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  UPDATE webhook_events e
    SET snapshot = x.event_rows
    FROM (
      SELECT
        o.id,
        webhook_rows(
          company,
          -- That of a call may be another one now.
          CASE WHEN NOT o.snapshot ? 'call' THEN (o.snapshot->'lead'->>'id')::bigint END,
          (o.snapshot->'call'->>'id')::bigint,
          (o.snapshot->'attempt'->>'id')::bigint,
          (o.snapshot->'conversion'->>'id')::bigint
        ) AS event_rows
      FROM webhook_events o
      WHERE o.company_id = company
        AND o.transaction_id = pg_current_xact_id()::text::bigint
        AND o.snapshot ?| ARRAY['call', 'lead']
    ) x
    WHERE e.company_id = company AND e.id = x.id
      AND x.event_rows <> '{}'
      AND e.snapshot IS DISTINCT FROM x.event_rows;
END $$;

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

-- A call of a lead comes in.
CREATE OR REPLACE FUNCTION record_call_of_lead(call calls) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO schedule_events (company_id, kind, lead_id, call_id)
  SELECT l.company_id, 'inbound_call', l.id, call.id
  FROM leads l
  JOIN schedules s ON s.company_id = l.company_id AND s.id = l.schedule_id
  WHERE l.company_id = call.company_id AND l.id = call.lead_id AND l.is_live
    AND 'inbound_call' = ANY (s.exit_on);
END $$;

-- If the call converts in the same transaction, forget_missing_conversion() follows.
CREATE OR REPLACE FUNCTION record_end_of_call(call calls) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF NOT call.buyer_converted
    AND (call.connected_at IS NOT NULL OR call.direction = 'inbound')
  THEN
    PERFORM record_schedule_event(
      call.company_id,
      CASE WHEN call.connected_at IS NULL THEN 'call_missed' ELSE 'call_not_converted' END,
      call.lead_id, call.id, NULL
    );
  END IF;
END $$;

-- Agents ---------------------------------------------------------------------------------------

-- Records that an agent goes online or offline: its old and its new status differ in is_online.
-- Every statement that writes the status or the deletion of an agent calls it with the row as it
-- was, which is null for a new agent.
CREATE OR REPLACE FUNCTION record_agent_change(was agents, is_now agents) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  was_online boolean;
  status record;
BEGIN
  IF NOT has_webhook_for(is_now.company_id, ARRAY['agent_online', 'agent_offline']) THEN
    RETURN;
  END IF;
  was_online :=
    was.id IS NOT NULL
    AND was.deleted_at IS NULL
    AND (
      SELECT s.is_online
      FROM agent_statuses s
      WHERE s.company_id = was.company_id AND s.id = was.agent_status_id
    );
  SELECT s.key, s.is_online INTO status
    FROM agent_statuses s
    WHERE s.company_id = is_now.company_id AND s.id = is_now.agent_status_id;
  IF (status.is_online AND is_now.deleted_at IS NULL) IS DISTINCT FROM was_online THEN
    PERFORM record_webhook_event(
      is_now.company_id,
      CASE WHEN was_online THEN 'agent_offline' ELSE 'agent_online' END,
      is_now.id,
      jsonb_build_object(
        'agent',
        jsonb_build_object('id', is_now.id, 'user_id', is_now.user_id, 'status', status.key)
      )
    );
  END IF;
END $$;

-- ---------------------------------------------------------------------------------------------
-- Accounts
-- ---------------------------------------------------------------------------------------------

-- The balance of a prepaid buyer has just fallen below the limit at which it is low.
CREATE OR REPLACE FUNCTION record_low_balance(
  company bigint,
  buyer bigint,
  balance numeric,
  credit_limit numeric,
  low_limit numeric
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM record_webhook_event(
    company,
    'balance_low',
    buyer,
    jsonb_build_object(
      'account',
      jsonb_build_object(
        'buyer_id', buyer,
        'balance', balance,
        'credit_limit', credit_limit,
        'balance_low_limit', low_limit
      )
    )
  );
END $$;

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
