-- AlterTable
ALTER TABLE "buyers" DROP COLUMN "calls_count",
DROP COLUMN "last_call_at",
DROP COLUMN "recent_calls_count",
ADD COLUMN     "display_service_number_id" BIGINT;

-- AlterTable
ALTER TABLE "call_limits" ADD COLUMN     "calls_count" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "last_call_at" TIMESTAMPTZ(3),
ADD COLUMN     "pending_connections" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "pending_conversions" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "pending_revenue" DECIMAL(14,2) NOT NULL DEFAULT 0;

-- AlterTable
ALTER TABLE "offers" ADD COLUMN     "callback_behavior" TEXT NOT NULL DEFAULT 'route_as_new',
ADD COLUMN     "fallback_message" TEXT,
ADD COLUMN     "fallback_number" TEXT,
ADD COLUMN     "fallback_type" TEXT NOT NULL DEFAULT 'hang_up',
ADD COLUMN     "greeting_message" TEXT,
ADD COLUMN     "payouts" JSONB NOT NULL DEFAULT '[]',
ADD COLUMN     "skip_duplicates" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "spacing_seconds" INTEGER NOT NULL DEFAULT 0;

-- AlterTable
ALTER TABLE "calls" ADD COLUMN     "answered_duration" INTEGER,
ADD COLUMN     "buyer_converted" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "buyer_id" BIGINT,
ADD COLUMN     "buyer_repeat_caller" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "buyer_revenue" DECIMAL(14,2) NOT NULL DEFAULT 0,
ADD COLUMN     "caller_city" TEXT,
ADD COLUMN     "caller_country" TEXT,
ADD COLUMN     "caller_number" BIGINT,
ADD COLUMN     "connected_at" TIMESTAMPTZ(3),
ADD COLUMN     "contact_field_type" TEXT,
ADD COLUMN     "external_record_id" TEXT,
ADD COLUMN     "fallback" TEXT,
ADD COLUMN     "hangup_cause" TEXT,
ADD COLUMN     "number_id" BIGINT,
ADD COLUMN     "payout" DECIMAL(14,2) NOT NULL DEFAULT 0,
ADD COLUMN     "provider_cost" DECIMAL(14,4),
ADD COLUMN     "recording_url" TEXT,
ADD COLUMN     "revenue" DECIMAL(14,2) NOT NULL DEFAULT 0,
ADD COLUMN     "round" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "sub_id" TEXT,
ADD COLUMN     "traffic_source_converted" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "traffic_source_id" BIGINT,
ADD COLUMN     "traffic_source_repeat_caller" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "user_updated_at" TIMESTAMPTZ(3),
ALTER COLUMN "from_number" DROP NOT NULL,
ALTER COLUMN "to_number" DROP NOT NULL;

-- CreateTable
CREATE TABLE "call_attempts" (
    "company_id" BIGINT NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "uuid" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "call_id" BIGINT NOT NULL,
    "round" INTEGER NOT NULL,
    "buyer_id" BIGINT NOT NULL,
    "buyer_group_id" BIGINT,
    "connect_to" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "timeout_seconds" INTEGER NOT NULL,
    "press_one_to_accept" BOOLEAN NOT NULL,
    "dial" JSONB NOT NULL,
    "answered_at" TIMESTAMPTZ(3),
    "connected_at" TIMESTAMPTZ(3),
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "call_attempts_pkey" PRIMARY KEY ("company_id","id")
);

-- CreateTable
CREATE TABLE "call_slots" (
    "company_id" BIGINT NOT NULL,
    "call_id" BIGINT NOT NULL,
    "call_limit_id" BIGINT NOT NULL,
    "connections" INTEGER NOT NULL DEFAULT 0,
    "conversions" INTEGER NOT NULL DEFAULT 0,
    "revenue" DECIMAL(14,2) NOT NULL DEFAULT 0,
    "lease_until" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "call_slots_pkey" PRIMARY KEY ("company_id","call_id","call_limit_id")
);

-- CreateTable
CREATE TABLE "call_decisions" (
    "company_id" BIGINT NOT NULL,
    "call_id" BIGINT NOT NULL,
    "round" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "decision" JSONB NOT NULL,

    CONSTRAINT "call_decisions_pkey" PRIMARY KEY ("company_id","call_id","round")
);

-- CreateTable
CREATE TABLE "call_events" (
    "company_id" BIGINT NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "call_id" BIGINT NOT NULL,
    "event" TEXT NOT NULL,
    "message" TEXT,
    "buyer_id" BIGINT,
    "details" JSONB,

    CONSTRAINT "call_events_pkey" PRIMARY KEY ("company_id","id")
);

-- CreateTable
CREATE TABLE "conversions" (
    "company_id" BIGINT NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "uuid" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "call_id" BIGINT NOT NULL,
    "buyer_id" BIGINT NOT NULL,
    "buyer_conversion_id" BIGINT,
    "name" TEXT,
    "caller_number" BIGINT,
    "revenue" DECIMAL(14,2) NOT NULL,
    "payout" DECIMAL(14,2) NOT NULL DEFAULT 0,

    CONSTRAINT "conversions_pkey" PRIMARY KEY ("company_id","id")
);

-- CreateIndex
CREATE INDEX "call_attempts_company_id_buyer_id_created_at_idx" ON "call_attempts"("company_id", "buyer_id", "created_at");

-- CreateIndex
CREATE UNIQUE INDEX "call_attempts_company_id_uuid_key" ON "call_attempts"("company_id", "uuid");

-- CreateIndex
CREATE UNIQUE INDEX "call_attempts_company_id_call_id_buyer_id_key" ON "call_attempts"("company_id", "call_id", "buyer_id");

-- CreateIndex
CREATE INDEX "call_slots_lease_until_idx" ON "call_slots"("lease_until");

-- CreateIndex
CREATE INDEX "call_events_company_id_call_id_id_idx" ON "call_events"("company_id", "call_id", "id");

-- CreateIndex
CREATE INDEX "conversions_company_id_caller_number_buyer_id_created_at_idx" ON "conversions"("company_id", "caller_number", "buyer_id", "created_at");

-- CreateIndex
CREATE UNIQUE INDEX "conversions_company_id_uuid_key" ON "conversions"("company_id", "uuid");

-- CreateIndex
CREATE UNIQUE INDEX "conversions_company_id_call_id_buyer_id_key" ON "conversions"("company_id", "call_id", "buyer_id");

-- CreateIndex
CREATE INDEX "calls_company_id_caller_number_id_idx" ON "calls"("company_id", "caller_number", "id");

-- CreateIndex
CREATE INDEX "calls_company_id_created_at_id_idx" ON "calls"("company_id", "created_at", "id") WHERE (deleted_at IS NULL);

-- CreateIndex
CREATE INDEX "calls_company_id_ended_at_id_idx" ON "calls"("company_id", "ended_at", "id") WHERE (deleted_at IS NULL);

-- CreateIndex
CREATE INDEX "calls_company_id_offer_id_id_idx" ON "calls"("company_id", "offer_id", "id") WHERE (deleted_at IS NULL);

-- CreateIndex
CREATE INDEX "calls_company_id_buyer_id_id_idx" ON "calls"("company_id", "buyer_id", "id") WHERE (deleted_at IS NULL);

-- CreateIndex
CREATE INDEX "calls_company_id_traffic_source_id_id_idx" ON "calls"("company_id", "traffic_source_id", "id") WHERE (deleted_at IS NULL AND traffic_source_id IS NOT NULL);

-- CreateIndex
CREATE INDEX "calls_company_id_schedule_id_id_idx" ON "calls"("company_id", "schedule_id", "id") WHERE (deleted_at IS NULL AND schedule_id IS NOT NULL);

-- CreateIndex
CREATE INDEX "calls_company_id_number_id_id_idx" ON "calls"("company_id", "number_id", "id") WHERE (deleted_at IS NULL AND number_id IS NOT NULL);

-- CreateIndex
CREATE INDEX "calls_buyer_converted_idx" ON "calls"("company_id", "id") WHERE (deleted_at IS NULL AND buyer_converted);

-- CreateIndex
CREATE INDEX "calls_traffic_source_converted_idx" ON "calls"("company_id", "id") WHERE (deleted_at IS NULL AND traffic_source_converted);

-- CreateIndex
CREATE INDEX "calls_in_progress_idx" ON "calls"("company_id", "id") WHERE (deleted_at IS NULL AND ended_at IS NULL);

-- CreateIndex
CREATE INDEX "calls_recorded_idx" ON "calls"("company_id", "id") WHERE (deleted_at IS NULL AND recording_url IS NOT NULL);

-- AddForeignKey
ALTER TABLE "buyers" ADD CONSTRAINT "buyers_company_id_display_service_number_id_fkey" FOREIGN KEY ("company_id", "display_service_number_id") REFERENCES "numbers"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "calls" ADD CONSTRAINT "calls_company_id_number_id_fkey" FOREIGN KEY ("company_id", "number_id") REFERENCES "numbers"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "calls" ADD CONSTRAINT "calls_company_id_offer_id_fkey" FOREIGN KEY ("company_id", "offer_id") REFERENCES "offers"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "calls" ADD CONSTRAINT "calls_company_id_traffic_source_id_fkey" FOREIGN KEY ("company_id", "traffic_source_id") REFERENCES "traffic_sources"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "calls" ADD CONSTRAINT "calls_company_id_buyer_id_fkey" FOREIGN KEY ("company_id", "buyer_id") REFERENCES "buyers"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "call_attempts" ADD CONSTRAINT "call_attempts_company_id_call_id_fkey" FOREIGN KEY ("company_id", "call_id") REFERENCES "calls"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "call_attempts" ADD CONSTRAINT "call_attempts_company_id_buyer_id_fkey" FOREIGN KEY ("company_id", "buyer_id") REFERENCES "buyers"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "call_attempts" ADD CONSTRAINT "call_attempts_company_id_buyer_group_id_fkey" FOREIGN KEY ("company_id", "buyer_group_id") REFERENCES "buyer_groups"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "call_slots" ADD CONSTRAINT "call_slots_company_id_call_id_fkey" FOREIGN KEY ("company_id", "call_id") REFERENCES "calls"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "call_slots" ADD CONSTRAINT "call_slots_company_id_call_limit_id_fkey" FOREIGN KEY ("company_id", "call_limit_id") REFERENCES "call_limits"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "call_decisions" ADD CONSTRAINT "call_decisions_company_id_call_id_fkey" FOREIGN KEY ("company_id", "call_id") REFERENCES "calls"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "call_events" ADD CONSTRAINT "call_events_company_id_call_id_fkey" FOREIGN KEY ("company_id", "call_id") REFERENCES "calls"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "conversions" ADD CONSTRAINT "conversions_company_id_call_id_fkey" FOREIGN KEY ("company_id", "call_id") REFERENCES "calls"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "conversions" ADD CONSTRAINT "conversions_company_id_buyer_id_fkey" FOREIGN KEY ("company_id", "buyer_id") REFERENCES "buyers"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- Calls that are there already were placed to leads.
UPDATE "calls" SET "caller_number" = CASE "direction" WHEN 'inbound' THEN "from_number" ELSE "to_number" END;

-- Every answer of the list of calls by a token, and every text search, goes by these.
CREATE INDEX "calls_token_values_idx" ON "calls" USING gin ("company_id", "token_values" jsonb_path_ops) WHERE "deleted_at" IS NULL;
CREATE INDEX "calls_fulltext_idx" ON "calls" USING gin ("company_id", (lower(coalesce("from_number"::text, '') || E'\n' || coalesce("to_number"::text, '') || E'\n' || coalesce("connect_to", '') || E'\n' || coalesce("sub_id", '') || E'\n' || coalesce("carrier_call_id", '') || E'\n' || coalesce("external_record_id", ''))) gin_trgm_ops) WHERE "deleted_at" IS NULL;
