-- CreateTable
CREATE TABLE "outgoing_webhooks" (
    "company_id" BIGINT NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "uuid" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),
    "user_updated_at" TIMESTAMPTZ(3),
    "external_record_id" TEXT,
    "name" TEXT NOT NULL,
    "owner_type" TEXT NOT NULL,
    "owner_id" BIGINT,
    "trigger_type" TEXT NOT NULL,
    "url" TEXT NOT NULL,
    "origin" TEXT NOT NULL,
    "method" TEXT NOT NULL,
    "headers" JSONB NOT NULL DEFAULT '{}',
    "body" TEXT,
    "timeout_seconds" INTEGER NOT NULL,
    "success_codes" INTEGER[] DEFAULT ARRAY[]::INTEGER[],
    "retries" INTEGER NOT NULL,
    "paused" BOOLEAN NOT NULL DEFAULT false,
    "paused_reason" TEXT,
    "token_filters" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "alert_email" TEXT,
    "secret_version" INTEGER NOT NULL DEFAULT 1,
    "secret_rotated_at" TIMESTAMPTZ(3),

    CONSTRAINT "outgoing_webhooks_pkey" PRIMARY KEY ("company_id","id")
);

-- CreateTable
CREATE TABLE "webhook_events" (
    "company_id" BIGINT NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "kind" TEXT NOT NULL,
    "occurred_at" TIMESTAMPTZ(3) NOT NULL,
    "record_id" BIGINT NOT NULL,
    "transaction_id" BIGINT NOT NULL,
    "snapshot" JSONB NOT NULL,

    CONSTRAINT "webhook_events_pkey" PRIMARY KEY ("company_id","id")
);

-- CreateTable
CREATE TABLE "webhook_queues" (
    "company_id" BIGINT NOT NULL,
    "outgoing_webhook_id" BIGINT NOT NULL,
    "next_due_at" TIMESTAMPTZ(3),
    "leased_until" TIMESTAMPTZ(3),
    "leased_by" UUID,
    "alerted_at" TIMESTAMPTZ(3),

    CONSTRAINT "webhook_queues_pkey" PRIMARY KEY ("company_id","outgoing_webhook_id")
);

-- CreateTable
CREATE TABLE "webhook_deliveries" (
    "company_id" BIGINT NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "uuid" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "outgoing_webhook_id" BIGINT NOT NULL,
    "webhook_manual_fire_id" BIGINT,
    "trigger_type" TEXT NOT NULL,
    "lead_id" BIGINT,
    "call_id" BIGINT,
    "buyer_id" BIGINT,
    "offer_id" BIGINT,
    "request_method" TEXT NOT NULL,
    "request_url" TEXT NOT NULL,
    "request_headers" JSONB NOT NULL,
    "request_body" TEXT,
    "status" TEXT NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "due_at" TIMESTAMPTZ(3),

    CONSTRAINT "webhook_deliveries_pkey" PRIMARY KEY ("company_id","id")
);

-- CreateTable
CREATE TABLE "webhook_logs" (
    "company_id" BIGINT NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "uuid" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "deleted_at" TIMESTAMPTZ(3),
    "outgoing_webhook_id" BIGINT NOT NULL,
    "webhook_delivery_id" BIGINT,
    "webhook_manual_fire_id" BIGINT,
    "lead_log_id" BIGINT,
    "trigger_type" TEXT NOT NULL,
    "event_id" UUID NOT NULL,
    "attempt" INTEGER NOT NULL,
    "lead_id" BIGINT,
    "call_id" BIGINT,
    "buyer_id" BIGINT,
    "offer_id" BIGINT,
    "request_method" TEXT,
    "request_url" TEXT,
    "request_headers" JSONB NOT NULL,
    "request_body" TEXT,
    "code" INTEGER,
    "response_headers" JSONB,
    "response_body" TEXT,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "duration" INTEGER NOT NULL,
    "success" BOOLEAN NOT NULL,
    "notes" TEXT,

    CONSTRAINT "webhook_logs_pkey" PRIMARY KEY ("company_id","id")
);

-- CreateTable
CREATE TABLE "webhook_manual_fires" (
    "company_id" BIGINT NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "uuid" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),
    "user_updated_at" TIMESTAMPTZ(3),
    "external_record_id" TEXT,
    "name" TEXT,
    "outgoing_webhook_id" BIGINT NOT NULL,
    "buyer_conversion_id" BIGINT,
    "lead_id" BIGINT,
    "call_id" BIGINT,

    CONSTRAINT "webhook_manual_fires_pkey" PRIMARY KEY ("company_id","id")
);

-- CreateIndex
CREATE INDEX "outgoing_webhooks_told_idx" ON "outgoing_webhooks"("company_id", "trigger_type", "id") WHERE (deleted_at IS NULL AND NOT paused);

-- CreateIndex
CREATE INDEX "outgoing_webhooks_company_id_owner_type_owner_id_idx" ON "outgoing_webhooks"("company_id", "owner_type", "owner_id") WHERE (deleted_at IS NULL);

-- CreateIndex
CREATE INDEX "outgoing_webhooks_company_id_name_id_idx" ON "outgoing_webhooks"("company_id", "name", "id") WHERE (deleted_at IS NULL);

-- CreateIndex
CREATE UNIQUE INDEX "outgoing_webhooks_company_id_uuid_key" ON "outgoing_webhooks"("company_id", "uuid");

-- CreateIndex
CREATE UNIQUE INDEX "webhook_events_company_id_transaction_id_record_id_kind_key" ON "webhook_events"("company_id", "transaction_id", "record_id", "kind");

-- CreateIndex
CREATE INDEX "webhook_queues_next_due_at_idx" ON "webhook_queues"("next_due_at") WHERE (next_due_at IS NOT NULL);

-- CreateIndex
CREATE INDEX "webhook_deliveries_first_idx" ON "webhook_deliveries"("company_id", "outgoing_webhook_id", "id") WHERE (due_at IS NOT NULL AND attempts = 0);

-- CreateIndex
CREATE INDEX "webhook_deliveries_again_idx" ON "webhook_deliveries"("company_id", "outgoing_webhook_id", "due_at") WHERE (due_at IS NOT NULL AND attempts > 0);

-- CreateIndex
CREATE INDEX "webhook_deliveries_company_id_call_id_id_idx" ON "webhook_deliveries"("company_id", "call_id", "id") WHERE (call_id IS NOT NULL);

-- CreateIndex
CREATE UNIQUE INDEX "webhook_deliveries_company_id_uuid_key" ON "webhook_deliveries"("company_id", "uuid");

-- CreateIndex
CREATE INDEX "webhook_logs_company_id_outgoing_webhook_id_id_idx" ON "webhook_logs"("company_id", "outgoing_webhook_id", "id") WHERE (deleted_at IS NULL);

-- CreateIndex
CREATE INDEX "webhook_logs_company_id_lead_id_id_idx" ON "webhook_logs"("company_id", "lead_id", "id") WHERE (deleted_at IS NULL AND lead_id IS NOT NULL);

-- CreateIndex
CREATE INDEX "webhook_logs_company_id_call_id_id_idx" ON "webhook_logs"("company_id", "call_id", "id") WHERE (deleted_at IS NULL AND call_id IS NOT NULL);

-- CreateIndex
CREATE INDEX "webhook_logs_company_id_buyer_id_id_idx" ON "webhook_logs"("company_id", "buyer_id", "id") WHERE (deleted_at IS NULL AND buyer_id IS NOT NULL);

-- CreateIndex
CREATE INDEX "webhook_logs_company_id_offer_id_id_idx" ON "webhook_logs"("company_id", "offer_id", "id") WHERE (deleted_at IS NULL AND offer_id IS NOT NULL);

-- CreateIndex
CREATE INDEX "webhook_logs_company_id_code_id_idx" ON "webhook_logs"("company_id", "code", "id") WHERE (deleted_at IS NULL AND code IS NOT NULL);

-- CreateIndex
CREATE INDEX "webhook_logs_failed_idx" ON "webhook_logs"("company_id", "id") WHERE (deleted_at IS NULL AND NOT success);

-- CreateIndex
CREATE INDEX "webhook_logs_delivery_idx" ON "webhook_logs"("company_id", "webhook_delivery_id") WHERE (webhook_delivery_id IS NOT NULL);

-- CreateIndex
CREATE INDEX "webhook_logs_manual_fire_idx" ON "webhook_logs"("company_id", "webhook_manual_fire_id", "id") WHERE (webhook_manual_fire_id IS NOT NULL);

-- CreateIndex
CREATE UNIQUE INDEX "webhook_logs_company_id_uuid_key" ON "webhook_logs"("company_id", "uuid");

-- CreateIndex
CREATE INDEX "webhook_manual_fires_company_id_created_at_id_idx" ON "webhook_manual_fires"("company_id", "created_at", "id") WHERE (deleted_at IS NULL);

-- CreateIndex
CREATE UNIQUE INDEX "webhook_manual_fires_company_id_uuid_key" ON "webhook_manual_fires"("company_id", "uuid");

-- AddForeignKey
ALTER TABLE "outgoing_webhooks" ADD CONSTRAINT "outgoing_webhooks_company_id_fkey" FOREIGN KEY ("company_id") REFERENCES "companies"("id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "webhook_events" ADD CONSTRAINT "webhook_events_company_id_fkey" FOREIGN KEY ("company_id") REFERENCES "companies"("id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "webhook_queues" ADD CONSTRAINT "webhook_queues_company_id_outgoing_webhook_id_fkey" FOREIGN KEY ("company_id", "outgoing_webhook_id") REFERENCES "outgoing_webhooks"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_company_id_outgoing_webhook_id_fkey" FOREIGN KEY ("company_id", "outgoing_webhook_id") REFERENCES "outgoing_webhooks"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_company_id_webhook_manual_fire_id_fkey" FOREIGN KEY ("company_id", "webhook_manual_fire_id") REFERENCES "webhook_manual_fires"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "webhook_logs" ADD CONSTRAINT "webhook_logs_company_id_webhook_manual_fire_id_fkey" FOREIGN KEY ("company_id", "webhook_manual_fire_id") REFERENCES "webhook_manual_fires"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "webhook_manual_fires" ADD CONSTRAINT "webhook_manual_fires_company_id_outgoing_webhook_id_fkey" FOREIGN KEY ("company_id", "outgoing_webhook_id") REFERENCES "outgoing_webhooks"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "webhook_manual_fires" ADD CONSTRAINT "webhook_manual_fires_company_id_buyer_conversion_id_fkey" FOREIGN KEY ("company_id", "buyer_conversion_id") REFERENCES "conversions"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "webhook_manual_fires" ADD CONSTRAINT "webhook_manual_fires_company_id_lead_id_fkey" FOREIGN KEY ("company_id", "lead_id") REFERENCES "leads"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "webhook_manual_fires" ADD CONSTRAINT "webhook_manual_fires_company_id_call_id_fkey" FOREIGN KEY ("company_id", "call_id") REFERENCES "calls"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- What Prisma's schema language cannot say.
ALTER TABLE "outgoing_webhooks" ADD CONSTRAINT "outgoing_webhooks_owner_check" CHECK (("owner_type" = 'Company') = ("owner_id" IS NULL));
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_waiting_check" CHECK (("status" = 'waiting') = ("due_at" IS NOT NULL));

CREATE INDEX "outgoing_webhooks_fulltext_idx" ON "outgoing_webhooks" USING gin ("company_id", (lower(coalesce("name", '') || E'\n' || coalesce("url", '') || E'\n' || coalesce("external_record_id", ''))) gin_trgm_ops) WHERE "deleted_at" IS NULL;
CREATE INDEX "webhook_manual_fires_fulltext_idx" ON "webhook_manual_fires" USING gin ("company_id", (lower(coalesce("name", ''))) gin_trgm_ops) WHERE "deleted_at" IS NULL;

-- Who is asked before a buyer is dialed is part of what calls are routed by.
CREATE CONSTRAINT TRIGGER routing_change AFTER INSERT ON "outgoing_webhooks" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (NEW.trigger_type = 'before_buyer_dialled') EXECUTE FUNCTION note_routing_change();
CREATE CONSTRAINT TRIGGER routing_change_after AFTER UPDATE ON "outgoing_webhooks" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (OLD.trigger_type = 'before_buyer_dialled' OR NEW.trigger_type = 'before_buyer_dialled') EXECUTE FUNCTION note_routing_change();

-- What has happened is written down in its own transaction, at its end: a transaction tells of a record once a kind, and of what has become of it. A company that has
-- nobody who wants to know pays one look at an index.
CREATE FUNCTION is_webhook_wanted(owner bigint, kinds text[]) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN EXISTS (SELECT FROM outgoing_webhooks w WHERE w.company_id = owner AND w.trigger_type = ANY (kinds) AND w.deleted_at IS NULL AND NOT w.paused);
END $$;

CREATE FUNCTION note_webhook_event(owner bigint, what text, record bigint, rows_of_it jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF is_webhook_wanted(owner, ARRAY[what]) THEN
    INSERT INTO webhook_events (company_id, kind, occurred_at, record_id, transaction_id, snapshot)
      VALUES (owner, what, now(), record, pg_current_xact_id()::text::bigint, rows_of_it) ON CONFLICT DO NOTHING;
  END IF;
END $$;

-- Rows as they now are, by what they are. The lead of a call is there too.
CREATE FUNCTION webhook_rows(owner bigint, of_lead bigint, of_call bigint, of_attempt bigint, of_conversion bigint) RETURNS jsonb LANGUAGE sql STABLE AS $$
  WITH c AS (SELECT * FROM calls WHERE company_id = owner AND id = of_call)
  SELECT coalesce(jsonb_object_agg(x.name, x.rows), '{}') FROM (VALUES
    ('lead', (SELECT to_jsonb(l) FROM leads l WHERE l.company_id = owner AND l.id = coalesce(of_lead, (SELECT c.lead_id FROM c)))),
    ('call', (SELECT to_jsonb(c) FROM c)),
    ('attempt', (SELECT to_jsonb(a) FROM call_attempts a WHERE a.company_id = owner AND a.id = of_attempt)),
    ('conversion', (SELECT to_jsonb(v) FROM conversions v WHERE v.company_id = owner AND v.id = of_conversion))
  ) AS x (name, rows) WHERE x.rows IS NOT NULL
$$;

CREATE FUNCTION tell_of_lead() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  kinds text[] := ARRAY['new_lead_created'];
  rows_of_it jsonb;
BEGIN
  IF TG_OP = 'UPDATE' THEN
    kinds := ARRAY['lead_changed'];
    IF OLD.data IS DISTINCT FROM NEW.data OR OLD.email IS DISTINCT FROM NEW.email THEN
      kinds := kinds || 'contact_fields_changed'::text;
    END IF;
    IF NEW.status = 'opt_out' AND OLD.status <> 'opt_out' THEN
      kinds := kinds || 'lead_opted_out'::text;
    END IF;
  END IF;
  IF is_webhook_wanted(NEW.company_id, kinds) THEN
    rows_of_it := webhook_rows(NEW.company_id, NEW.id, NULL, NULL, NULL);
    PERFORM note_webhook_event(NEW.company_id, k.kind, NEW.id, rows_of_it) FROM unnest(kinds) WITH ORDINALITY AS k (kind, n) ORDER BY k.n;
  END IF;
  RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER tell_of_new_lead AFTER INSERT ON "leads" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION tell_of_lead();
-- Not what the engine keeps for itself: when it looks next, who has claimed it, how far it is.
CREATE CONSTRAINT TRIGGER tell_of_lead AFTER UPDATE OF "status", "email", "data", "contact_field_type", "sub_id", "offer_id", "schedule_id", "traffic_source_id", "buyer_id", "buyer_converted", "offer_converted",
    "revenue", "payout", "lead_priority", "expires_in", "hours_to_expire", "max_contact_attempts", "external_record_id", "callback_at", "deleted_at" ON "leads" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (OLD.status <> NEW.status OR (OLD.buyer_converted, OLD.offer_converted, OLD.revenue, OLD.payout) <> (NEW.buyer_converted, NEW.offer_converted, NEW.revenue, NEW.payout)
    OR OLD.deleted_at IS DISTINCT FROM NEW.deleted_at OR OLD.offer_id IS DISTINCT FROM NEW.offer_id OR OLD.schedule_id IS DISTINCT FROM NEW.schedule_id OR OLD.traffic_source_id IS DISTINCT FROM NEW.traffic_source_id
    OR OLD.buyer_id IS DISTINCT FROM NEW.buyer_id OR OLD.lead_priority IS DISTINCT FROM NEW.lead_priority OR OLD.expires_in IS DISTINCT FROM NEW.expires_in OR OLD.hours_to_expire IS DISTINCT FROM NEW.hours_to_expire
    OR OLD.max_contact_attempts IS DISTINCT FROM NEW.max_contact_attempts OR OLD.external_record_id IS DISTINCT FROM NEW.external_record_id OR OLD.callback_at IS DISTINCT FROM NEW.callback_at
    OR OLD.email IS DISTINCT FROM NEW.email OR OLD.contact_field_type IS DISTINCT FROM NEW.contact_field_type OR OLD.sub_id IS DISTINCT FROM NEW.sub_id OR OLD.data IS DISTINCT FROM NEW.data)
  EXECUTE FUNCTION tell_of_lead();

-- Who opts out need have no lead that is still in action: then it is told of the last one.
CREATE FUNCTION tell_of_opt_out() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF is_webhook_wanted(NEW.company_id, ARRAY['lead_opted_out']) THEN
    PERFORM note_webhook_event(l.company_id, 'lead_opted_out', l.id, webhook_rows(l.company_id, l.id, NULL, NULL, NULL))
      FROM (SELECT * FROM leads WHERE company_id = NEW.company_id AND caller_number = NEW.caller_number AND deleted_at IS NULL ORDER BY id DESC LIMIT 1) l
      WHERE NOT EXISTS (SELECT FROM leads o WHERE o.company_id = NEW.company_id AND o.caller_number = NEW.caller_number AND o.is_live);
  END IF;
  RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER tell_of_opt_out AFTER UPDATE OF "opt_out" ON "contacts" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (NEW.opt_out AND NOT OLD.opt_out) EXECUTE FUNCTION tell_of_opt_out();

-- A call that is only written down for its carrier to be asked has not begun.
CREATE FUNCTION tell_of_call() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  begins CONSTANT boolean := TG_OP = 'INSERT' OR (OLD.status = 'sending' AND NEW.status <> 'sending');
  ends CONSTANT boolean := NEW.ended_at IS NOT NULL AND (TG_OP = 'INSERT' OR OLD.ended_at IS NULL);
  kinds text[] := '{}';
  rows_of_it jsonb;
BEGIN
  IF begins THEN
    kinds := kinds || 'new_call_started'::text;
  END IF;
  IF NEW.traffic_source_converted AND (TG_OP = 'INSERT' OR NOT OLD.traffic_source_converted) THEN
    kinds := kinds || 'offer_converted'::text;
  END IF;
  IF ends THEN
    kinds := kinds || ARRAY['every_call', 'buyer_did_not_convert'];
  ELSIF TG_OP = 'UPDATE' AND OLD.ended_at IS NOT NULL AND NEW.updated_at > NEW.ended_at THEN
    kinds := kinds || 'call_changed'::text;
  END IF;
  IF is_webhook_wanted(NEW.company_id, kinds) THEN
    rows_of_it := webhook_rows(NEW.company_id, NULL, NEW.id, NULL, NULL);
    -- What the call came to within the transaction counts: it may convert after it has ended.
    IF rows_of_it->'call'->>'connected_at' IS NULL OR (rows_of_it->'call'->>'buyer_converted')::boolean THEN
      kinds := array_remove(kinds, 'buyer_did_not_convert');
    END IF;
    PERFORM note_webhook_event(NEW.company_id, k.kind, NEW.id, rows_of_it) FROM unnest(kinds) WITH ORDINALITY AS k (kind, n) WHERE rows_of_it ? 'call' ORDER BY k.n;
  END IF;
  RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER tell_of_new_call AFTER INSERT ON "calls" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.status <> 'sending') EXECUTE FUNCTION tell_of_call();
-- What changes as a call ends carries the moment of its end: that is no change of an ended call.
CREATE CONSTRAINT TRIGGER tell_of_call AFTER UPDATE ON "calls" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN ((OLD.status = 'sending' AND NEW.status <> 'sending') OR (OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL) OR (NEW.traffic_source_converted AND NOT OLD.traffic_source_converted)
    OR (OLD.ended_at IS NOT NULL AND NEW.updated_at > NEW.ended_at AND (OLD.revenue <> NEW.revenue OR OLD.payout <> NEW.payout OR OLD.buyer_converted <> NEW.buyer_converted OR OLD.status <> NEW.status
      OR OLD.answered_duration IS DISTINCT FROM NEW.answered_duration OR OLD.total_duration IS DISTINCT FROM NEW.total_duration OR OLD.hangup_cause IS DISTINCT FROM NEW.hangup_cause
      OR OLD.recording_url IS DISTINCT FROM NEW.recording_url OR OLD.token_values IS DISTINCT FROM NEW.token_values)))
  EXECUTE FUNCTION tell_of_call();

CREATE FUNCTION tell_of_attempt() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  kind CONSTANT text := CASE TG_OP WHEN 'INSERT' THEN 'buyer_dialled' ELSE 'buyer_answered' END;
BEGIN
  IF is_webhook_wanted(NEW.company_id, ARRAY[kind]) THEN
    PERFORM note_webhook_event(NEW.company_id, kind, NEW.id, webhook_rows(NEW.company_id, NULL, NEW.call_id, NEW.id, NULL));
  END IF;
  RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER tell_of_dial AFTER INSERT ON "call_attempts" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION tell_of_attempt();
CREATE CONSTRAINT TRIGGER tell_of_answer AFTER UPDATE OF "answered_at" ON "call_attempts" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (OLD.answered_at IS NULL AND NEW.answered_at IS NOT NULL) EXECUTE FUNCTION tell_of_attempt();

CREATE FUNCTION tell_of_conversion() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF is_webhook_wanted(NEW.company_id, ARRAY['buyer_converted']) THEN
    PERFORM note_webhook_event(NEW.company_id, 'buyer_converted', NEW.id, webhook_rows(NEW.company_id, NULL, NEW.call_id, NULL, NEW.id));
  END IF;
  RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER tell_of_conversion AFTER INSERT ON "conversions" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION tell_of_conversion();
