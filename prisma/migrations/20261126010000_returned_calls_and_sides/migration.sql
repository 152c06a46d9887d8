-- Conversions can be returned: they stay, and the buyer may pay for the call again later.
ALTER TABLE conversions
  ADD COLUMN returned_at timestamptz(3),
  ADD COLUMN return_reason text;
DROP INDEX conversions_company_id_call_id_buyer_id_key;
CREATE UNIQUE INDEX conversions_company_id_call_id_buyer_id_key
  ON conversions (company_id, call_id, buyer_id)
  WHERE returned_at IS NULL;
CREATE INDEX conversions_company_id_call_id_idx ON conversions (company_id, call_id);

-- Traffic sources are granted to teams, as buyers are.
CREATE TABLE access_control_list_traffic_sources (
  company_id bigint NOT NULL,
  access_control_list_id bigint NOT NULL,
  traffic_source_id bigint NOT NULL,
  CONSTRAINT access_control_list_traffic_sources_pkey
    PRIMARY KEY (company_id, access_control_list_id, traffic_source_id)
);
CREATE INDEX access_control_list_traffic_sources_company_id_traffic_sour_idx
  ON access_control_list_traffic_sources (company_id, traffic_source_id);
ALTER TABLE access_control_list_traffic_sources
  ADD CONSTRAINT access_control_list_traffic_sources_company_id_access_cont_fkey
  FOREIGN KEY (company_id, access_control_list_id) REFERENCES access_control_lists (company_id, id);
ALTER TABLE access_control_list_traffic_sources
  ADD CONSTRAINT access_control_list_traffic_sources_company_id_traffic_sou_fkey
  FOREIGN KEY (company_id, traffic_source_id) REFERENCES traffic_sources (company_id, id);

-- Sellers read the names of buyers only where the endpoint says so.
ALTER TABLE inbound_webhooks ADD COLUMN show_buyer_names boolean NOT NULL DEFAULT false;

-- A return is an event of webhooks.
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
      )
    )
  )
  EXECUTE FUNCTION record_call_events();
