-- CreateTable
CREATE TABLE "companies" (
    "id" BIGSERIAL NOT NULL,
    "uuid" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "companies_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "users" (
    "company_id" BIGINT NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "uuid" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),
    "email" TEXT NOT NULL,
    "name" TEXT,

    CONSTRAINT "users_pkey" PRIMARY KEY ("company_id","id")
);

-- CreateTable
CREATE TABLE "access_tokens" (
    "company_id" BIGINT NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "uuid" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),
    "user_updated_at" TIMESTAMPTZ(3),
    "external_record_id" TEXT,
    "name" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "public_key" TEXT NOT NULL,
    "secret_digest" BYTEA NOT NULL,
    "permissions" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "superuser" BOOLEAN NOT NULL DEFAULT false,
    "user_id" BIGINT,
    "expires_at" TIMESTAMPTZ(3),

    CONSTRAINT "access_tokens_pkey" PRIMARY KEY ("company_id","id")
);

-- CreateTable
CREATE TABLE "credential_lookups" (
    "public_key" TEXT NOT NULL,
    "company_id" BIGINT NOT NULL,
    "access_token_id" BIGINT NOT NULL,

    CONSTRAINT "credential_lookups_pkey" PRIMARY KEY ("public_key")
);

-- CreateTable
CREATE TABLE "buyers" (
    "company_id" BIGINT NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "uuid" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),
    "user_updated_at" TIMESTAMPTZ(3),
    "external_record_id" TEXT,
    "name" TEXT,
    "number" TEXT,
    "user_buyer_id" TEXT,
    "email" TEXT,
    "buyer_type" TEXT NOT NULL,
    "time_zone" TEXT NOT NULL,
    "paused" BOOLEAN NOT NULL DEFAULT false,
    "paused_at" TIMESTAMPTZ(3),
    "unpaused_at" TIMESTAMPTZ(3),
    "paused_by_user_id" BIGINT,
    "timeout_seconds" INTEGER NOT NULL,
    "dtmf_tones" TEXT,
    "record_calls" BOOLEAN NOT NULL,
    "press_one_to_accept" BOOLEAN NOT NULL,
    "ping_timeout_seconds" INTEGER,
    "route_by_type" TEXT NOT NULL,
    "tier" DOUBLE PRECISION NOT NULL,
    "weight" DOUBLE PRECISION NOT NULL,
    "epc_timeframe" INTEGER,
    "epc_assumed_amount" DECIMAL(14,2),
    "epc_assumed_calls_count" INTEGER,
    "display_caller_id_type" TEXT NOT NULL,
    "buyer_fleet_id" BIGINT,
    "record_token_filter_data" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "record_token_additional_data" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "last_call_at" TIMESTAMPTZ(3),
    "calls_count" INTEGER NOT NULL DEFAULT 0,
    "recent_calls_count" INTEGER NOT NULL DEFAULT 0,
    "outgoing_webhooks_count" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "buyers_pkey" PRIMARY KEY ("company_id","id")
);

-- CreateTable
CREATE TABLE "buyer_business_hours" (
    "company_id" BIGINT NOT NULL,
    "buyer_id" BIGINT NOT NULL,
    "position" INTEGER NOT NULL,
    "schedule" JSONB NOT NULL,
    "open_minutes" INTEGER[] DEFAULT ARRAY[]::INTEGER[],
    "attempt_hourly_limit" INTEGER,
    "connection_hourly_limit" INTEGER,
    "buyer_conversion_hourly_limit" INTEGER,
    "revenue_hourly_limit" DECIMAL(14,2),
    "earned_revenue_hourly_limit" DECIMAL(14,2),

    CONSTRAINT "buyer_business_hours_pkey" PRIMARY KEY ("company_id","buyer_id","position")
);

-- CreateTable
CREATE TABLE "buyer_conversions" (
    "company_id" BIGINT NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "uuid" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "buyer_id" BIGINT NOT NULL,
    "time_frame" INTEGER NOT NULL,
    "position" INTEGER NOT NULL,
    "schedule" JSONB NOT NULL,
    "open_minutes" INTEGER[] DEFAULT ARRAY[]::INTEGER[],
    "name" TEXT,
    "conversion_type" TEXT NOT NULL,
    "duration" INTEGER NOT NULL,
    "revenue" DECIMAL(14,2) NOT NULL,
    "revenue_min" DECIMAL(14,2),
    "revenue_max" DECIMAL(14,2),
    "revenue_increment" DECIMAL(14,2),
    "duplicate_timeframe" INTEGER NOT NULL,
    "token_values" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "token_value_ids" BIGINT[] DEFAULT ARRAY[]::BIGINT[],
    "attribution_token_values" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "attribution_token_value_ids" BIGINT[] DEFAULT ARRAY[]::BIGINT[],

    CONSTRAINT "buyer_conversions_pkey" PRIMARY KEY ("company_id","id")
);

-- CreateTable
CREATE TABLE "buyer_groups" (
    "company_id" BIGINT NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "uuid" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),
    "user_updated_at" TIMESTAMPTZ(3),
    "external_record_id" TEXT,
    "name" TEXT,
    "time_zone" TEXT NOT NULL,
    "paused" BOOLEAN NOT NULL DEFAULT false,
    "paused_at" TIMESTAMPTZ(3),
    "unpaused_at" TIMESTAMPTZ(3),
    "paused_by_user_id" BIGINT,
    "tier" DOUBLE PRECISION NOT NULL,
    "weight" DOUBLE PRECISION NOT NULL,
    "dial_buyers_type" TEXT NOT NULL,

    CONSTRAINT "buyer_groups_pkey" PRIMARY KEY ("company_id","id")
);

-- CreateTable
CREATE TABLE "buyer_group_members" (
    "company_id" BIGINT NOT NULL,
    "buyer_group_id" BIGINT NOT NULL,
    "buyer_id" BIGINT NOT NULL,

    CONSTRAINT "buyer_group_members_pkey" PRIMARY KEY ("company_id","buyer_group_id","buyer_id")
);

-- CreateTable
CREATE TABLE "buyer_fleets" (
    "company_id" BIGINT NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "uuid" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),
    "user_updated_at" TIMESTAMPTZ(3),
    "external_record_id" TEXT,
    "name" TEXT NOT NULL,
    "description" TEXT,
    "user_fleet_id" TEXT NOT NULL,

    CONSTRAINT "buyer_fleets_pkey" PRIMARY KEY ("company_id","id")
);

-- CreateTable
CREATE TABLE "call_limits" (
    "company_id" BIGINT NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "buyer_id" BIGINT,
    "buyer_group_id" BIGINT,
    "zone" TEXT NOT NULL,
    "concurrency_cap_limit" INTEGER,
    "concurrency_cap_used" INTEGER NOT NULL DEFAULT 0,
    "hourly_resets_at" TIMESTAMPTZ(3),
    "daily_resets_at" TIMESTAMPTZ(3),
    "monthly_resets_at" TIMESTAMPTZ(3),
    "attempt_total_used" INTEGER NOT NULL DEFAULT 0,
    "attempt_monthly_used" INTEGER NOT NULL DEFAULT 0,
    "attempt_daily_used" INTEGER NOT NULL DEFAULT 0,
    "attempt_hourly_used" INTEGER NOT NULL DEFAULT 0,
    "connection_total_used" INTEGER NOT NULL DEFAULT 0,
    "connection_monthly_used" INTEGER NOT NULL DEFAULT 0,
    "connection_daily_used" INTEGER NOT NULL DEFAULT 0,
    "connection_hourly_used" INTEGER NOT NULL DEFAULT 0,
    "buyer_conversion_total_used" INTEGER NOT NULL DEFAULT 0,
    "buyer_conversion_monthly_used" INTEGER NOT NULL DEFAULT 0,
    "buyer_conversion_daily_used" INTEGER NOT NULL DEFAULT 0,
    "buyer_conversion_hourly_used" INTEGER NOT NULL DEFAULT 0,
    "revenue_total_used" DECIMAL(14,2) NOT NULL DEFAULT 0,
    "revenue_monthly_used" DECIMAL(14,2) NOT NULL DEFAULT 0,
    "revenue_daily_used" DECIMAL(14,2) NOT NULL DEFAULT 0,
    "revenue_hourly_used" DECIMAL(14,2) NOT NULL DEFAULT 0,
    "earned_revenue_total_used" DECIMAL(14,2) NOT NULL DEFAULT 0,
    "earned_revenue_monthly_used" DECIMAL(14,2) NOT NULL DEFAULT 0,
    "earned_revenue_daily_used" DECIMAL(14,2) NOT NULL DEFAULT 0,
    "earned_revenue_hourly_used" DECIMAL(14,2) NOT NULL DEFAULT 0,
    "attempt_total_limit" INTEGER,
    "attempt_monthly_limit" INTEGER,
    "attempt_daily_limit" INTEGER,
    "attempt_hourly_limit" INTEGER,
    "connection_total_limit" INTEGER,
    "connection_monthly_limit" INTEGER,
    "connection_daily_limit" INTEGER,
    "connection_hourly_limit" INTEGER,
    "buyer_conversion_total_limit" INTEGER,
    "buyer_conversion_monthly_limit" INTEGER,
    "buyer_conversion_daily_limit" INTEGER,
    "buyer_conversion_hourly_limit" INTEGER,
    "revenue_total_limit" DECIMAL(14,2),
    "revenue_monthly_limit" DECIMAL(14,2),
    "revenue_daily_limit" DECIMAL(14,2),
    "revenue_hourly_limit" DECIMAL(14,2),
    "earned_revenue_total_limit" DECIMAL(14,2),
    "earned_revenue_monthly_limit" DECIMAL(14,2),
    "earned_revenue_daily_limit" DECIMAL(14,2),
    "earned_revenue_hourly_limit" DECIMAL(14,2),

    CONSTRAINT "call_limits_pkey" PRIMARY KEY ("company_id","id")
);

-- CreateTable
CREATE TABLE "record_counts" (
    "company_id" BIGINT NOT NULL,
    "resource" TEXT NOT NULL,
    "slot" INTEGER NOT NULL,
    "n" BIGINT NOT NULL,

    CONSTRAINT "record_counts_pkey" PRIMARY KEY ("company_id","resource","slot")
);

-- CreateTable
CREATE TABLE "idempotency_keys" (
    "company_id" BIGINT NOT NULL,
    "key" TEXT NOT NULL,
    "operation_id" TEXT NOT NULL,
    "request_digest" BYTEA NOT NULL,
    "status" INTEGER NOT NULL,
    "answer" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "idempotency_keys_pkey" PRIMARY KEY ("company_id","key")
);

-- CreateIndex
CREATE UNIQUE INDEX "companies_uuid_key" ON "companies"("uuid");

-- CreateIndex
CREATE UNIQUE INDEX "users_company_id_uuid_key" ON "users"("company_id", "uuid");

-- CreateIndex
CREATE UNIQUE INDEX "users_company_id_email_key" ON "users"("company_id", "email") WHERE (deleted_at IS NULL);

-- CreateIndex
CREATE UNIQUE INDEX "access_tokens_company_id_uuid_key" ON "access_tokens"("company_id", "uuid");

-- CreateIndex
CREATE INDEX "buyers_company_id_name_id_idx" ON "buyers"("company_id", "name", "id") WHERE (deleted_at IS NULL);

-- CreateIndex
CREATE INDEX "buyers_company_id_number_id_idx" ON "buyers"("company_id", "number", "id") WHERE (deleted_at IS NULL);

-- CreateIndex
CREATE INDEX "buyers_company_id_created_at_id_idx" ON "buyers"("company_id", "created_at", "id") WHERE (deleted_at IS NULL);

-- CreateIndex
CREATE INDEX "buyers_company_id_buyer_fleet_id_idx" ON "buyers"("company_id", "buyer_fleet_id");

-- CreateIndex
CREATE UNIQUE INDEX "buyers_company_id_uuid_key" ON "buyers"("company_id", "uuid");

-- CreateIndex
CREATE UNIQUE INDEX "buyers_company_id_user_buyer_id_key" ON "buyers"("company_id", "user_buyer_id") WHERE (deleted_at IS NULL);

-- CreateIndex
CREATE UNIQUE INDEX "buyer_conversions_company_id_uuid_key" ON "buyer_conversions"("company_id", "uuid");

-- CreateIndex
CREATE UNIQUE INDEX "buyer_conversions_company_id_buyer_id_time_frame_position_key" ON "buyer_conversions"("company_id", "buyer_id", "time_frame", "position");

-- CreateIndex
CREATE INDEX "buyer_groups_company_id_name_id_idx" ON "buyer_groups"("company_id", "name", "id") WHERE (deleted_at IS NULL);

-- CreateIndex
CREATE INDEX "buyer_groups_company_id_created_at_id_idx" ON "buyer_groups"("company_id", "created_at", "id") WHERE (deleted_at IS NULL);

-- CreateIndex
CREATE UNIQUE INDEX "buyer_groups_company_id_uuid_key" ON "buyer_groups"("company_id", "uuid");

-- CreateIndex
CREATE INDEX "buyer_group_members_company_id_buyer_id_idx" ON "buyer_group_members"("company_id", "buyer_id");

-- CreateIndex
CREATE INDEX "buyer_fleets_company_id_name_id_idx" ON "buyer_fleets"("company_id", "name", "id") WHERE (deleted_at IS NULL);

-- CreateIndex
CREATE INDEX "buyer_fleets_company_id_created_at_id_idx" ON "buyer_fleets"("company_id", "created_at", "id") WHERE (deleted_at IS NULL);

-- CreateIndex
CREATE UNIQUE INDEX "buyer_fleets_company_id_uuid_key" ON "buyer_fleets"("company_id", "uuid");

-- CreateIndex
CREATE UNIQUE INDEX "buyer_fleets_company_id_user_fleet_id_key" ON "buyer_fleets"("company_id", "user_fleet_id") WHERE (deleted_at IS NULL);

-- CreateIndex
CREATE UNIQUE INDEX "call_limits_company_id_buyer_id_key" ON "call_limits"("company_id", "buyer_id");

-- CreateIndex
CREATE UNIQUE INDEX "call_limits_company_id_buyer_group_id_key" ON "call_limits"("company_id", "buyer_group_id");

-- CreateIndex
CREATE INDEX "idempotency_keys_created_at_idx" ON "idempotency_keys"("created_at");

-- AddForeignKey
ALTER TABLE "users" ADD CONSTRAINT "users_company_id_fkey" FOREIGN KEY ("company_id") REFERENCES "companies"("id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "access_tokens" ADD CONSTRAINT "access_tokens_company_id_fkey" FOREIGN KEY ("company_id") REFERENCES "companies"("id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "access_tokens" ADD CONSTRAINT "access_tokens_company_id_user_id_fkey" FOREIGN KEY ("company_id", "user_id") REFERENCES "users"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "credential_lookups" ADD CONSTRAINT "credential_lookups_company_id_access_token_id_fkey" FOREIGN KEY ("company_id", "access_token_id") REFERENCES "access_tokens"("company_id", "id") ON DELETE CASCADE ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "buyers" ADD CONSTRAINT "buyers_company_id_fkey" FOREIGN KEY ("company_id") REFERENCES "companies"("id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "buyers" ADD CONSTRAINT "buyers_company_id_buyer_fleet_id_fkey" FOREIGN KEY ("company_id", "buyer_fleet_id") REFERENCES "buyer_fleets"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "buyers" ADD CONSTRAINT "buyers_company_id_paused_by_user_id_fkey" FOREIGN KEY ("company_id", "paused_by_user_id") REFERENCES "users"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "buyer_business_hours" ADD CONSTRAINT "buyer_business_hours_company_id_buyer_id_fkey" FOREIGN KEY ("company_id", "buyer_id") REFERENCES "buyers"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "buyer_conversions" ADD CONSTRAINT "buyer_conversions_company_id_buyer_id_fkey" FOREIGN KEY ("company_id", "buyer_id") REFERENCES "buyers"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "buyer_groups" ADD CONSTRAINT "buyer_groups_company_id_fkey" FOREIGN KEY ("company_id") REFERENCES "companies"("id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "buyer_groups" ADD CONSTRAINT "buyer_groups_company_id_paused_by_user_id_fkey" FOREIGN KEY ("company_id", "paused_by_user_id") REFERENCES "users"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "buyer_group_members" ADD CONSTRAINT "buyer_group_members_company_id_buyer_group_id_fkey" FOREIGN KEY ("company_id", "buyer_group_id") REFERENCES "buyer_groups"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "buyer_group_members" ADD CONSTRAINT "buyer_group_members_company_id_buyer_id_fkey" FOREIGN KEY ("company_id", "buyer_id") REFERENCES "buyers"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "buyer_fleets" ADD CONSTRAINT "buyer_fleets_company_id_fkey" FOREIGN KEY ("company_id") REFERENCES "companies"("id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "call_limits" ADD CONSTRAINT "call_limits_company_id_buyer_id_fkey" FOREIGN KEY ("company_id", "buyer_id") REFERENCES "buyers"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "call_limits" ADD CONSTRAINT "call_limits_company_id_buyer_group_id_fkey" FOREIGN KEY ("company_id", "buyer_group_id") REFERENCES "buyer_groups"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "record_counts" ADD CONSTRAINT "record_counts_company_id_fkey" FOREIGN KEY ("company_id") REFERENCES "companies"("id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "idempotency_keys" ADD CONSTRAINT "idempotency_keys_company_id_fkey" FOREIGN KEY ("company_id") REFERENCES "companies"("id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- What Prisma's schema language cannot say.

CREATE EXTENSION IF NOT EXISTS pg_trgm;
CREATE EXTENSION IF NOT EXISTS btree_gin;

-- A row of call_limits belongs to a buyer or to a group.
ALTER TABLE "call_limits" ADD CONSTRAINT "call_limits_owner_check" CHECK (("buyer_id" IS NULL) <> ("buyer_group_id" IS NULL));
ALTER TABLE "call_limits" ADD CONSTRAINT "call_limits_concurrency_check" CHECK ("concurrency_cap_used" >= 0);

-- `fulltext` searches these expressions, and src/resources name them letter by letter.
CREATE INDEX "buyers_fulltext_idx" ON "buyers" USING gin ("company_id", (lower(coalesce("name", '') || E'\n' || coalesce("number", '') || E'\n' || coalesce("user_buyer_id", '') || E'\n' || coalesce("email", '') || E'\n' || coalesce("external_record_id", ''))) gin_trgm_ops) WHERE "deleted_at" IS NULL;
CREATE INDEX "buyer_groups_fulltext_idx" ON "buyer_groups" USING gin ("company_id", (lower(coalesce("name", '') || E'\n' || coalesce("external_record_id", ''))) gin_trgm_ops) WHERE "deleted_at" IS NULL;
CREATE INDEX "buyer_fleets_fulltext_idx" ON "buyer_fleets" USING gin ("company_id", (lower(coalesce("name", '') || E'\n' || coalesce("user_fleet_id", '') || E'\n' || coalesce("description", '') || E'\n' || coalesce("external_record_id", ''))) gin_trgm_ops) WHERE "deleted_at" IS NULL;
CREATE INDEX "access_tokens_fulltext_idx" ON "access_tokens" USING gin ("company_id", (lower(coalesce("name", '') || E'\n' || coalesce("public_key", ''))) gin_trgm_ops) WHERE "deleted_at" IS NULL;

-- Minute of the local week, Sunday 00:00 is 0.
CREATE FUNCTION local_minute_of_week(at timestamptz, zone text) RETURNS integer LANGUAGE sql STABLE PARALLEL SAFE AS
$$ SELECT (extract(dow FROM at AT TIME ZONE zone) * 1440 + extract(hour FROM at AT TIME ZONE zone) * 60 + extract(minute FROM at AT TIME ZONE zone))::integer $$;

-- Whether a schedule is open, given the minutes at which it opens and closes in turn (src/schedules/hours.ts).
CREATE FUNCTION is_open(open_minutes integer[], minute_of_week integer) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
$$ SELECT cardinality(open_minutes) = 0 OR width_bucket(minute_of_week, open_minutes) % 2 = 1 $$;

-- ISO 8601 with milliseconds and numeric offset in a zone.
CREATE FUNCTION iso_local(at timestamptz, zone text) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS
$$ SELECT to_char(at AT TIME ZONE zone, 'YYYY-MM-DD"T"HH24:MI:SS.MS') || to_char(make_interval(secs => abs(extract(epoch FROM (at AT TIME ZONE zone) - (at AT TIME ZONE 'UTC')))),
  CASE WHEN (at AT TIME ZONE zone) < (at AT TIME ZONE 'UTC') THEN '"-"HH24:MI' ELSE '"+"HH24:MI' END) $$;

-- Numbers of the token values of conversions.
CREATE SEQUENCE token_value_ids;
