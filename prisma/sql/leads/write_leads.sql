-- Functions that take whole rows of leads, made from the columns that the table has: a new column
-- is written and compared without being named here. They write rows and nothing else; the caller
-- has locked those that it changes, and sees to what follows (store_leads, record_new_lead).
--
--   insert_leads(rows): inserts rows in their order, nulls replaced by the defaults of the columns.
--     Returns those of which no live lead was there already.
--   update_leads(rows): writes all columns of rows.
--   differs_for_users(was, is_now): whether a change is of interest to others than the engine.
DO $do$
DECLARE
  -- The engine's own state, and columns that follow from others.
  engine_columns CONSTANT text[] := ARRAY[
    'attempted_call_id', 'called_at', 'claim_id', 'connected_call_id', 'contact_attempts',
    'delay_reason', 'dial_number_id', 'due_at', 'entered_at', 'exit_reason', 'first_action_at',
    'first_queued_at', 'is_live', 'last_action_at', 'last_call_at', 'next_action_at', 'phase',
    'position', 'remote_ip', 'replied_at', 'schedule_ended_at', 'scheduled_callback_id',
    'sms_number_id', 'step', 'suppressed', 'tries', 'triggered_by', 'unreachable', 'updated_at',
    'user_updated_at', 'zones'
  ];
  names text;
  inserted text;
  assignments text;
  compared text;
BEGIN
  SELECT
    string_agg(a.name, ', '),
    string_agg(
      CASE
        WHEN d.adbin IS NULL THEN format('n.%s', a.name)
        ELSE format('coalesce(n.%s, %s)', a.name, pg_get_expr(d.adbin, d.adrelid))
      END,
      ', '
    ),
    string_agg(format('%1$s = n.%1$s', a.name), ', ')
      FILTER (WHERE a.attname NOT IN ('company_id', 'id')),
    string_agg(format('was.%1$s IS DISTINCT FROM is_now.%1$s', a.name), ' OR ')
      FILTER (WHERE a.attname <> ALL (engine_columns))
  INTO names, inserted, assignments, compared
  FROM (
    SELECT t.attrelid, t.attnum, t.attname, quote_ident(t.attname) AS name
    FROM pg_attribute t
    WHERE t.attrelid = 'leads'::regclass AND t.attnum > 0 AND NOT t.attisdropped
      -- Views of a cell show these of their tables.
      AND t.attname NOT IN ('ctid', 'xmin', 'xmax')
    ORDER BY t.attname
  ) a
  LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum;
  EXECUTE format(
    $f$
      CREATE OR REPLACE FUNCTION insert_leads(rows leads[]) RETURNS leads[] LANGUAGE plpgsql AS $$
      DECLARE
        inserted leads[];
      BEGIN
        WITH new_leads AS (
          INSERT INTO leads (%s) SELECT %s FROM unnest(rows) n ON CONFLICT DO NOTHING
          RETURNING leads AS new_lead
        )
        SELECT array_agg(new_lead) INTO inserted FROM new_leads;
        RETURN inserted;
      END $$
    $f$,
    names, inserted
  );
  EXECUTE format(
    $f$
      CREATE OR REPLACE FUNCTION update_leads(rows leads[]) RETURNS void LANGUAGE plpgsql AS $$
      BEGIN
        UPDATE leads l
          SET %s
          FROM unnest(rows) n
          WHERE l.company_id = n.company_id AND l.id = n.id;
      END $$
    $f$,
    assignments
  );
  EXECUTE format(
    $f$
      CREATE OR REPLACE FUNCTION differs_for_users(was leads, is_now leads) RETURNS boolean
      LANGUAGE plpgsql IMMUTABLE AS $$
      BEGIN
        RETURN %s;
      END $$
    $f$,
    compared
  );
END $do$;
