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
