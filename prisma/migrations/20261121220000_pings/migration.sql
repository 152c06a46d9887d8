-- AlterTable
ALTER TABLE "call_limits" ADD COLUMN     "totals_reset_at" TIMESTAMPTZ(3);

-- CreateTable
CREATE TABLE "inbound_webhooks" (
    "company_id" BIGINT NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "uuid" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),
    "user_updated_at" TIMESTAMPTZ(3),
    "external_record_id" TEXT,
    "name" TEXT NOT NULL,
    "vanity_uri" TEXT NOT NULL,
    "offer_id" BIGINT NOT NULL,
    "traffic_source_id" BIGINT,
    "auth_token_digest" BYTEA,
    "hold_seconds" INTEGER NOT NULL DEFAULT 60,
    "paused" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "inbound_webhooks_pkey" PRIMARY KEY ("company_id","id")
);

-- CreateTable
CREATE TABLE "inbound_webhook_lookups" (
    "vanity_uri" TEXT NOT NULL,
    "company_id" BIGINT NOT NULL,
    "inbound_webhook_id" BIGINT NOT NULL,

    CONSTRAINT "inbound_webhook_lookups_pkey" PRIMARY KEY ("vanity_uri")
);

-- CreateTable
CREATE TABLE "pings" (
    "company_id" BIGINT NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "uuid" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "inbound_webhook_id" BIGINT NOT NULL,
    "offer_id" BIGINT NOT NULL,
    "caller_number" BIGINT NOT NULL,
    "traffic_source_id" BIGINT,
    "sub_id" TEXT,
    "token_values" JSONB NOT NULL,
    "buyer_ids" BIGINT[],
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "answer" JSONB,
    "call_id" BIGINT,

    CONSTRAINT "pings_pkey" PRIMARY KEY ("company_id","id")
);

-- CreateTable
CREATE TABLE "call_holds" (
    "company_id" BIGINT NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "ping_id" BIGINT,
    "offer_id" BIGINT NOT NULL,
    "caller_number" BIGINT NOT NULL,
    "buyer_ids" BIGINT[],
    "buyer_group_id" BIGINT,
    "slots" JSONB NOT NULL,
    "caps" JSONB NOT NULL,
    "posted" BOOLEAN NOT NULL,
    "direct" BOOLEAN NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "call_holds_pkey" PRIMARY KEY ("company_id","id")
);

-- CreateIndex
CREATE INDEX "inbound_webhooks_company_id_name_id_idx" ON "inbound_webhooks"("company_id", "name", "id") WHERE (deleted_at IS NULL);

-- CreateIndex
CREATE UNIQUE INDEX "inbound_webhooks_company_id_uuid_key" ON "inbound_webhooks"("company_id", "uuid");

-- CreateIndex
CREATE UNIQUE INDEX "inbound_webhooks_company_id_vanity_uri_key" ON "inbound_webhooks"("company_id", "vanity_uri") WHERE (deleted_at IS NULL);

-- CreateIndex
CREATE INDEX "pings_created_at_idx" ON "pings"("created_at");

-- CreateIndex
CREATE UNIQUE INDEX "pings_company_id_uuid_key" ON "pings"("company_id", "uuid");

-- CreateIndex
CREATE INDEX "call_holds_company_id_caller_number_offer_id_idx" ON "call_holds"("company_id", "caller_number", "offer_id");

-- CreateIndex
CREATE INDEX "call_holds_expires_at_idx" ON "call_holds"("expires_at");

-- CreateIndex
CREATE UNIQUE INDEX "call_holds_company_id_ping_id_key" ON "call_holds"("company_id", "ping_id");

-- AddForeignKey
ALTER TABLE "inbound_webhooks" ADD CONSTRAINT "inbound_webhooks_company_id_fkey" FOREIGN KEY ("company_id") REFERENCES "companies"("id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "inbound_webhooks" ADD CONSTRAINT "inbound_webhooks_company_id_offer_id_fkey" FOREIGN KEY ("company_id", "offer_id") REFERENCES "offers"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "inbound_webhooks" ADD CONSTRAINT "inbound_webhooks_company_id_traffic_source_id_fkey" FOREIGN KEY ("company_id", "traffic_source_id") REFERENCES "traffic_sources"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "inbound_webhook_lookups" ADD CONSTRAINT "inbound_webhook_lookups_company_id_inbound_webhook_id_fkey" FOREIGN KEY ("company_id", "inbound_webhook_id") REFERENCES "inbound_webhooks"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "pings" ADD CONSTRAINT "pings_company_id_inbound_webhook_id_fkey" FOREIGN KEY ("company_id", "inbound_webhook_id") REFERENCES "inbound_webhooks"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "pings" ADD CONSTRAINT "pings_company_id_offer_id_fkey" FOREIGN KEY ("company_id", "offer_id") REFERENCES "offers"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "pings" ADD CONSTRAINT "pings_company_id_traffic_source_id_fkey" FOREIGN KEY ("company_id", "traffic_source_id") REFERENCES "traffic_sources"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "pings" ADD CONSTRAINT "pings_company_id_call_id_fkey" FOREIGN KEY ("company_id", "call_id") REFERENCES "calls"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "call_holds" ADD CONSTRAINT "call_holds_company_id_ping_id_fkey" FOREIGN KEY ("company_id", "ping_id") REFERENCES "pings"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "call_holds" ADD CONSTRAINT "call_holds_company_id_offer_id_fkey" FOREIGN KEY ("company_id", "offer_id") REFERENCES "offers"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- The same text as a fulltext search of the endpoints asks for.
CREATE INDEX "inbound_webhooks_fulltext_idx" ON "inbound_webhooks" USING gin ("company_id", (lower(coalesce("name", '') || E'\n' || coalesce("vanity_uri", '') || E'\n' || coalesce("external_record_id", ''))) gin_trgm_ops) WHERE "deleted_at" IS NULL;
