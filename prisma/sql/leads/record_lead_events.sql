-- What statements that write leads record of them, in the same statement
-- (src/domain/leads/queries/record-leads.ts). A transaction may write a lead several times: the
-- event has the row as it was written last, so each write renews what the transaction has recorded
-- before. The setting says that it has recorded something.
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
