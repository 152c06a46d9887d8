-- CreateTable
CREATE TABLE "offers" (
    "company_id" BIGINT NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "uuid" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),
    "user_updated_at" TIMESTAMPTZ(3),
    "external_record_id" TEXT,
    "name" TEXT NOT NULL,
    "user_offer_id" TEXT,
    "description" TEXT,
    "time_zone" TEXT NOT NULL,
    "paused" BOOLEAN NOT NULL DEFAULT false,
    "paused_at" TIMESTAMPTZ(3),
    "unpaused_at" TIMESTAMPTZ(3),
    "paused_by_user_id" BIGINT,
    "lead_token" TEXT NOT NULL,

    CONSTRAINT "offers_pkey" PRIMARY KEY ("company_id","id")
);

-- CreateTable
CREATE TABLE "offer_buyers" (
    "company_id" BIGINT NOT NULL,
    "offer_id" BIGINT NOT NULL,
    "buyer_id" BIGINT NOT NULL,

    CONSTRAINT "offer_buyers_pkey" PRIMARY KEY ("company_id","offer_id","buyer_id")
);

-- CreateTable
CREATE TABLE "offer_buyer_groups" (
    "company_id" BIGINT NOT NULL,
    "offer_id" BIGINT NOT NULL,
    "buyer_group_id" BIGINT NOT NULL,

    CONSTRAINT "offer_buyer_groups_pkey" PRIMARY KEY ("company_id","offer_id","buyer_group_id")
);

-- CreateTable
CREATE TABLE "buyer_suppression_offers" (
    "company_id" BIGINT NOT NULL,
    "buyer_suppression_id" BIGINT NOT NULL,
    "offer_id" BIGINT NOT NULL,

    CONSTRAINT "buyer_suppression_offers_pkey" PRIMARY KEY ("company_id","buyer_suppression_id","offer_id")
);

-- CreateTable
CREATE TABLE "buyer_suppression_schedules" (
    "company_id" BIGINT NOT NULL,
    "buyer_suppression_id" BIGINT NOT NULL,
    "schedule_id" BIGINT NOT NULL,

    CONSTRAINT "buyer_suppression_schedules_pkey" PRIMARY KEY ("company_id","buyer_suppression_id","schedule_id")
);

-- CreateTable
CREATE TABLE "traffic_sources" (
    "company_id" BIGINT NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "uuid" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),
    "user_updated_at" TIMESTAMPTZ(3),
    "external_record_id" TEXT,
    "name" TEXT NOT NULL,
    "user_traffic_source_id" TEXT,
    "email" TEXT,
    "description" TEXT,

    CONSTRAINT "traffic_sources_pkey" PRIMARY KEY ("company_id","id")
);

-- CreateTable
CREATE TABLE "schedules" (
    "company_id" BIGINT NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "uuid" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),
    "user_updated_at" TIMESTAMPTZ(3),
    "external_record_id" TEXT,
    "name" TEXT NOT NULL,
    "user_schedule_id" TEXT,
    "description" TEXT,
    "offer_id" BIGINT,
    "time_zone" TEXT NOT NULL,
    "daylight_hours" TEXT NOT NULL,
    "business_hours" JSONB NOT NULL,
    "hours_to_expire" INTEGER,
    "max_contact_attempts" INTEGER,
    "from_email" TEXT,
    "paused" BOOLEAN NOT NULL DEFAULT false,
    "paused_at" TIMESTAMPTZ(3),
    "unpaused_at" TIMESTAMPTZ(3),
    "paused_by_user_id" BIGINT,
    "lead_token" TEXT NOT NULL,

    CONSTRAINT "schedules_pkey" PRIMARY KEY ("company_id","id")
);

-- CreateTable
CREATE TABLE "schedule_actions" (
    "company_id" BIGINT NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "uuid" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),
    "user_updated_at" TIMESTAMPTZ(3),
    "external_record_id" TEXT,
    "schedule_id" BIGINT NOT NULL,
    "name" TEXT,
    "action_type" TEXT NOT NULL,
    "end_of_schedule" BOOLEAN NOT NULL DEFAULT false,
    "position" DOUBLE PRECISION NOT NULL,
    "token_filters" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "wait_amount" INTEGER,
    "wait_unit" TEXT,
    "wait_until" TEXT,
    "connect_to" TEXT,
    "timeout_seconds" INTEGER,
    "body" TEXT,
    "subject" TEXT,
    "html" BOOLEAN,
    "from_email" TEXT,
    "url" TEXT,
    "method" TEXT,
    "headers" JSONB,
    "to_schedule_id" BIGINT,

    CONSTRAINT "schedule_actions_pkey" PRIMARY KEY ("company_id","id")
);

-- CreateTable
CREATE TABLE "lead_tokens" (
    "token" TEXT NOT NULL,
    "company_id" BIGINT NOT NULL,
    "offer_id" BIGINT,
    "schedule_id" BIGINT,

    CONSTRAINT "lead_tokens_pkey" PRIMARY KEY ("token")
);

-- CreateTable
CREATE TABLE "numbers" (
    "company_id" BIGINT NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "uuid" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),
    "user_updated_at" TIMESTAMPTZ(3),
    "external_record_id" TEXT,
    "name" TEXT,
    "phone_number" BIGINT NOT NULL,
    "country" TEXT NOT NULL,
    "toll_free" BOOLEAN NOT NULL DEFAULT false,
    "carrier" TEXT NOT NULL,
    "carrier_number_id" TEXT,
    "offer_id" BIGINT,
    "traffic_source_id" BIGINT,
    "last_assigned_at" TIMESTAMPTZ(3),

    CONSTRAINT "numbers_pkey" PRIMARY KEY ("company_id","id")
);

-- CreateTable
CREATE TABLE "number_lookups" (
    "phone_number" BIGINT NOT NULL,
    "company_id" BIGINT NOT NULL,
    "number_id" BIGINT NOT NULL,

    CONSTRAINT "number_lookups_pkey" PRIMARY KEY ("phone_number")
);

-- CreateTable
CREATE TABLE "contacts" (
    "company_id" BIGINT NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "uuid" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),
    "user_updated_at" TIMESTAMPTZ(3),
    "external_record_id" TEXT,
    "caller_number" BIGINT NOT NULL,
    "blocked" BOOLEAN NOT NULL DEFAULT false,
    "blocked_at" TIMESTAMPTZ(3),
    "unblocked_at" TIMESTAMPTZ(3),
    "opt_out" BOOLEAN NOT NULL DEFAULT false,
    "opted_out_at" TIMESTAMPTZ(3),
    "opted_in_at" TIMESTAMPTZ(3),
    "calls_count" INTEGER NOT NULL DEFAULT 0,
    "sms_count" INTEGER NOT NULL DEFAULT 0,
    "emails_count" INTEGER NOT NULL DEFAULT 0,
    "last_contacted_at" TIMESTAMPTZ(3),

    CONSTRAINT "contacts_pkey" PRIMARY KEY ("company_id","id")
);

-- CreateTable
CREATE TABLE "leads" (
    "company_id" BIGINT NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "uuid" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),
    "user_updated_at" TIMESTAMPTZ(3),
    "external_record_id" TEXT,
    "caller_number" BIGINT NOT NULL,
    "email" TEXT,
    "contact_field_type" TEXT,
    "expires_in" INTEGER,
    "zones" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "sub_id" TEXT,
    "offer_id" BIGINT,
    "schedule_id" BIGINT,
    "status" TEXT NOT NULL,
    "is_live" BOOLEAN NOT NULL DEFAULT true,
    "traffic_source_id" BIGINT,
    "buyer_id" BIGINT,
    "remote_ip" TEXT,
    "attempted_call_id" BIGINT,
    "connected_call_id" BIGINT,
    "scheduled_callback_id" BIGINT,
    "sms_number_id" BIGINT,
    "dial_number_id" BIGINT,
    "lead_priority" DECIMAL(14,4),
    "hours_to_expire" INTEGER,
    "max_contact_attempts" INTEGER,
    "revenue" DECIMAL(14,2) NOT NULL DEFAULT 0,
    "payout" DECIMAL(14,2) NOT NULL DEFAULT 0,
    "offer_converted" BOOLEAN NOT NULL DEFAULT false,
    "buyer_converted" BOOLEAN NOT NULL DEFAULT false,
    "data" JSONB NOT NULL DEFAULT '{}',
    "first_queued_at" TIMESTAMPTZ(3),
    "first_action_at" TIMESTAMPTZ(3),
    "last_action_at" TIMESTAMPTZ(3),
    "last_call_at" TIMESTAMPTZ(3),
    "schedule_ended_at" TIMESTAMPTZ(3),
    "next_action_at" TIMESTAMPTZ(3),
    "callback_at" TIMESTAMPTZ(3),
    "entered_at" TIMESTAMPTZ(3) NOT NULL,
    "phase" TEXT NOT NULL DEFAULT 'actions',
    "position" DOUBLE PRECISION,
    "exit_reason" TEXT,
    "contact_attempts" INTEGER NOT NULL DEFAULT 0,
    "delay_reason" TEXT,
    "suppressed" BOOLEAN NOT NULL DEFAULT false,
    "due_at" TIMESTAMPTZ(3),
    "claim_id" UUID,
    "step" INTEGER NOT NULL DEFAULT 0,
    "tries" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "leads_pkey" PRIMARY KEY ("company_id","id")
);

-- CreateTable
CREATE TABLE "scheduled_callbacks" (
    "company_id" BIGINT NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "lead_id" BIGINT NOT NULL,
    "callback_at" TIMESTAMPTZ(3) NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'pending',
    "call_id" BIGINT,

    CONSTRAINT "scheduled_callbacks_pkey" PRIMARY KEY ("company_id","id")
);

-- CreateTable
CREATE TABLE "lead_logs" (
    "company_id" BIGINT NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "lead_id" BIGINT NOT NULL,
    "event" TEXT NOT NULL,
    "message" TEXT,
    "schedule_action_id" BIGINT,
    "call_id" BIGINT,
    "text_message_id" BIGINT,
    "email_id" BIGINT,
    "details" JSONB,

    CONSTRAINT "lead_logs_pkey" PRIMARY KEY ("company_id","id")
);

-- CreateTable
CREATE TABLE "text_messages" (
    "company_id" BIGINT NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "uuid" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),
    "user_updated_at" TIMESTAMPTZ(3),
    "external_record_id" TEXT,
    "direction" TEXT NOT NULL,
    "from_number" BIGINT NOT NULL,
    "to_number" BIGINT NOT NULL,
    "body" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "error_code" TEXT,
    "error_message" TEXT,
    "carrier" TEXT NOT NULL,
    "carrier_message_id" TEXT,
    "lead_id" BIGINT,
    "offer_id" BIGINT,
    "schedule_id" BIGINT,
    "schedule_action_id" BIGINT,
    "token_values" JSONB NOT NULL DEFAULT '{}',
    "sent_at" TIMESTAMPTZ(3),
    "delivered_at" TIMESTAMPTZ(3),

    CONSTRAINT "text_messages_pkey" PRIMARY KEY ("company_id","id")
);

-- CreateTable
CREATE TABLE "emails" (
    "company_id" BIGINT NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "uuid" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),
    "user_updated_at" TIMESTAMPTZ(3),
    "external_record_id" TEXT,
    "from_email" TEXT NOT NULL,
    "to_email" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "body" TEXT NOT NULL,
    "html" BOOLEAN NOT NULL,
    "status" TEXT NOT NULL,
    "error_code" TEXT,
    "error_message" TEXT,
    "mailer" TEXT NOT NULL,
    "message_id" TEXT,
    "lead_id" BIGINT,
    "offer_id" BIGINT,
    "schedule_id" BIGINT,
    "schedule_action_id" BIGINT,
    "token_values" JSONB NOT NULL DEFAULT '{}',
    "sent_at" TIMESTAMPTZ(3),

    CONSTRAINT "emails_pkey" PRIMARY KEY ("company_id","id")
);

-- CreateTable
CREATE TABLE "calls" (
    "company_id" BIGINT NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "uuid" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),
    "direction" TEXT NOT NULL,
    "from_number" BIGINT NOT NULL,
    "to_number" BIGINT NOT NULL,
    "connect_to" TEXT,
    "status" TEXT NOT NULL,
    "error_code" TEXT,
    "error_message" TEXT,
    "carrier" TEXT NOT NULL,
    "carrier_call_id" TEXT,
    "lead_id" BIGINT,
    "offer_id" BIGINT,
    "schedule_id" BIGINT,
    "schedule_action_id" BIGINT,
    "token_values" JSONB NOT NULL DEFAULT '{}',
    "answered_at" TIMESTAMPTZ(3),
    "ended_at" TIMESTAMPTZ(3),
    "total_duration" INTEGER,

    CONSTRAINT "calls_pkey" PRIMARY KEY ("company_id","id")
);

-- CreateIndex
CREATE INDEX "offers_company_id_name_id_idx" ON "offers"("company_id", "name", "id") WHERE (deleted_at IS NULL);

-- CreateIndex
CREATE INDEX "offers_company_id_created_at_id_idx" ON "offers"("company_id", "created_at", "id") WHERE (deleted_at IS NULL);

-- CreateIndex
CREATE UNIQUE INDEX "offers_company_id_uuid_key" ON "offers"("company_id", "uuid");

-- CreateIndex
CREATE UNIQUE INDEX "offers_company_id_user_offer_id_key" ON "offers"("company_id", "user_offer_id") WHERE (deleted_at IS NULL);

-- CreateIndex
CREATE INDEX "offer_buyers_company_id_buyer_id_idx" ON "offer_buyers"("company_id", "buyer_id");

-- CreateIndex
CREATE INDEX "offer_buyer_groups_company_id_buyer_group_id_idx" ON "offer_buyer_groups"("company_id", "buyer_group_id");

-- CreateIndex
CREATE INDEX "buyer_suppression_offers_company_id_offer_id_buyer_suppress_idx" ON "buyer_suppression_offers"("company_id", "offer_id", "buyer_suppression_id");

-- CreateIndex
CREATE INDEX "buyer_suppression_schedules_company_id_schedule_id_buyer_su_idx" ON "buyer_suppression_schedules"("company_id", "schedule_id", "buyer_suppression_id");

-- CreateIndex
CREATE INDEX "traffic_sources_company_id_name_id_idx" ON "traffic_sources"("company_id", "name", "id") WHERE (deleted_at IS NULL);

-- CreateIndex
CREATE UNIQUE INDEX "traffic_sources_company_id_uuid_key" ON "traffic_sources"("company_id", "uuid");

-- CreateIndex
CREATE UNIQUE INDEX "traffic_sources_company_id_user_traffic_source_id_key" ON "traffic_sources"("company_id", "user_traffic_source_id") WHERE (deleted_at IS NULL);

-- CreateIndex
CREATE INDEX "schedules_company_id_name_id_idx" ON "schedules"("company_id", "name", "id") WHERE (deleted_at IS NULL);

-- CreateIndex
CREATE INDEX "schedules_company_id_offer_id_idx" ON "schedules"("company_id", "offer_id");

-- CreateIndex
CREATE UNIQUE INDEX "schedules_company_id_uuid_key" ON "schedules"("company_id", "uuid");

-- CreateIndex
CREATE UNIQUE INDEX "schedules_company_id_user_schedule_id_key" ON "schedules"("company_id", "user_schedule_id") WHERE (deleted_at IS NULL);

-- CreateIndex
CREATE INDEX "schedule_actions_company_id_to_schedule_id_idx" ON "schedule_actions"("company_id", "to_schedule_id");

-- CreateIndex
CREATE UNIQUE INDEX "schedule_actions_company_id_uuid_key" ON "schedule_actions"("company_id", "uuid");

-- CreateIndex
CREATE UNIQUE INDEX "schedule_actions_company_id_position_key" ON "schedule_actions"("company_id", "schedule_id", "end_of_schedule", "position") WHERE (deleted_at IS NULL);

-- CreateIndex
CREATE UNIQUE INDEX "numbers_company_id_uuid_key" ON "numbers"("company_id", "uuid");

-- CreateIndex
CREATE UNIQUE INDEX "numbers_company_id_phone_number_key" ON "numbers"("company_id", "phone_number") WHERE (deleted_at IS NULL);

-- CreateIndex
CREATE INDEX "contacts_blocked_idx" ON "contacts"("company_id", "id") WHERE (blocked);

-- CreateIndex
CREATE INDEX "contacts_opt_out_idx" ON "contacts"("company_id", "id") WHERE (opt_out);

-- CreateIndex
CREATE UNIQUE INDEX "contacts_company_id_uuid_key" ON "contacts"("company_id", "uuid");

-- CreateIndex
CREATE UNIQUE INDEX "contacts_company_id_caller_number_key" ON "contacts"("company_id", "caller_number");

-- CreateIndex
CREATE INDEX "leads_company_id_caller_number_id_idx" ON "leads"("company_id", "caller_number", "id");

-- CreateIndex
CREATE INDEX "leads_company_id_created_at_id_idx" ON "leads"("company_id", "created_at", "id") WHERE (deleted_at IS NULL);

-- CreateIndex
CREATE INDEX "leads_company_id_schedule_id_id_idx" ON "leads"("company_id", "schedule_id", "id") WHERE (deleted_at IS NULL);

-- CreateIndex
CREATE INDEX "leads_company_id_offer_id_id_idx" ON "leads"("company_id", "offer_id", "id") WHERE (deleted_at IS NULL);

-- CreateIndex
CREATE INDEX "leads_due_idx" ON "leads"("due_at") WHERE (due_at IS NOT NULL AND lead_priority IS NULL);

-- CreateIndex
CREATE INDEX "leads_due_by_priority_idx" ON "leads"("due_at", "lead_priority") WHERE (due_at IS NOT NULL AND lead_priority IS NOT NULL);

-- CreateIndex
CREATE UNIQUE INDEX "leads_company_id_uuid_key" ON "leads"("company_id", "uuid");

-- CreateIndex
CREATE UNIQUE INDEX "leads_live_in_schedule_key" ON "leads"("company_id", "schedule_id", "caller_number") WHERE (is_live AND schedule_id IS NOT NULL);

-- CreateIndex
CREATE UNIQUE INDEX "leads_live_in_offer_key" ON "leads"("company_id", "offer_id", "caller_number") WHERE (is_live AND schedule_id IS NULL);

-- CreateIndex
CREATE INDEX "scheduled_callbacks_company_id_lead_id_id_idx" ON "scheduled_callbacks"("company_id", "lead_id", "id");

-- CreateIndex
CREATE INDEX "lead_logs_company_id_lead_id_id_idx" ON "lead_logs"("company_id", "lead_id", "id");

-- CreateIndex
CREATE INDEX "text_messages_company_id_lead_id_id_idx" ON "text_messages"("company_id", "lead_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "text_messages_company_id_uuid_key" ON "text_messages"("company_id", "uuid");

-- CreateIndex
CREATE UNIQUE INDEX "text_messages_company_id_carrier_carrier_message_id_key" ON "text_messages"("company_id", "carrier", "carrier_message_id");

-- CreateIndex
CREATE INDEX "emails_company_id_lead_id_id_idx" ON "emails"("company_id", "lead_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "emails_company_id_uuid_key" ON "emails"("company_id", "uuid");

-- CreateIndex
CREATE INDEX "calls_company_id_lead_id_id_idx" ON "calls"("company_id", "lead_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "calls_company_id_uuid_key" ON "calls"("company_id", "uuid");

-- CreateIndex
CREATE UNIQUE INDEX "calls_company_id_carrier_carrier_call_id_key" ON "calls"("company_id", "carrier", "carrier_call_id");

-- AddForeignKey
ALTER TABLE "offers" ADD CONSTRAINT "offers_company_id_fkey" FOREIGN KEY ("company_id") REFERENCES "companies"("id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "offers" ADD CONSTRAINT "offers_company_id_paused_by_user_id_fkey" FOREIGN KEY ("company_id", "paused_by_user_id") REFERENCES "users"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "offer_buyers" ADD CONSTRAINT "offer_buyers_company_id_offer_id_fkey" FOREIGN KEY ("company_id", "offer_id") REFERENCES "offers"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "offer_buyers" ADD CONSTRAINT "offer_buyers_company_id_buyer_id_fkey" FOREIGN KEY ("company_id", "buyer_id") REFERENCES "buyers"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "offer_buyer_groups" ADD CONSTRAINT "offer_buyer_groups_company_id_offer_id_fkey" FOREIGN KEY ("company_id", "offer_id") REFERENCES "offers"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "offer_buyer_groups" ADD CONSTRAINT "offer_buyer_groups_company_id_buyer_group_id_fkey" FOREIGN KEY ("company_id", "buyer_group_id") REFERENCES "buyer_groups"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "buyer_suppression_offers" ADD CONSTRAINT "buyer_suppression_offers_company_id_buyer_suppression_id_fkey" FOREIGN KEY ("company_id", "buyer_suppression_id") REFERENCES "buyer_suppressions"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "buyer_suppression_offers" ADD CONSTRAINT "buyer_suppression_offers_company_id_offer_id_fkey" FOREIGN KEY ("company_id", "offer_id") REFERENCES "offers"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "buyer_suppression_schedules" ADD CONSTRAINT "buyer_suppression_schedules_company_id_buyer_suppression_i_fkey" FOREIGN KEY ("company_id", "buyer_suppression_id") REFERENCES "buyer_suppressions"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "buyer_suppression_schedules" ADD CONSTRAINT "buyer_suppression_schedules_company_id_schedule_id_fkey" FOREIGN KEY ("company_id", "schedule_id") REFERENCES "schedules"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "traffic_sources" ADD CONSTRAINT "traffic_sources_company_id_fkey" FOREIGN KEY ("company_id") REFERENCES "companies"("id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "schedules" ADD CONSTRAINT "schedules_company_id_fkey" FOREIGN KEY ("company_id") REFERENCES "companies"("id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "schedules" ADD CONSTRAINT "schedules_company_id_offer_id_fkey" FOREIGN KEY ("company_id", "offer_id") REFERENCES "offers"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "schedules" ADD CONSTRAINT "schedules_company_id_paused_by_user_id_fkey" FOREIGN KEY ("company_id", "paused_by_user_id") REFERENCES "users"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "schedule_actions" ADD CONSTRAINT "schedule_actions_company_id_fkey" FOREIGN KEY ("company_id") REFERENCES "companies"("id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "schedule_actions" ADD CONSTRAINT "schedule_actions_company_id_schedule_id_fkey" FOREIGN KEY ("company_id", "schedule_id") REFERENCES "schedules"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "schedule_actions" ADD CONSTRAINT "schedule_actions_company_id_to_schedule_id_fkey" FOREIGN KEY ("company_id", "to_schedule_id") REFERENCES "schedules"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "lead_tokens" ADD CONSTRAINT "lead_tokens_company_id_offer_id_fkey" FOREIGN KEY ("company_id", "offer_id") REFERENCES "offers"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "lead_tokens" ADD CONSTRAINT "lead_tokens_company_id_schedule_id_fkey" FOREIGN KEY ("company_id", "schedule_id") REFERENCES "schedules"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "numbers" ADD CONSTRAINT "numbers_company_id_fkey" FOREIGN KEY ("company_id") REFERENCES "companies"("id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "numbers" ADD CONSTRAINT "numbers_company_id_offer_id_fkey" FOREIGN KEY ("company_id", "offer_id") REFERENCES "offers"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "numbers" ADD CONSTRAINT "numbers_company_id_traffic_source_id_fkey" FOREIGN KEY ("company_id", "traffic_source_id") REFERENCES "traffic_sources"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "number_lookups" ADD CONSTRAINT "number_lookups_company_id_number_id_fkey" FOREIGN KEY ("company_id", "number_id") REFERENCES "numbers"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "contacts" ADD CONSTRAINT "contacts_company_id_fkey" FOREIGN KEY ("company_id") REFERENCES "companies"("id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "leads" ADD CONSTRAINT "leads_company_id_fkey" FOREIGN KEY ("company_id") REFERENCES "companies"("id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "leads" ADD CONSTRAINT "leads_company_id_offer_id_fkey" FOREIGN KEY ("company_id", "offer_id") REFERENCES "offers"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "leads" ADD CONSTRAINT "leads_company_id_schedule_id_fkey" FOREIGN KEY ("company_id", "schedule_id") REFERENCES "schedules"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "leads" ADD CONSTRAINT "leads_company_id_traffic_source_id_fkey" FOREIGN KEY ("company_id", "traffic_source_id") REFERENCES "traffic_sources"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "leads" ADD CONSTRAINT "leads_company_id_buyer_id_fkey" FOREIGN KEY ("company_id", "buyer_id") REFERENCES "buyers"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "leads" ADD CONSTRAINT "leads_company_id_sms_number_id_fkey" FOREIGN KEY ("company_id", "sms_number_id") REFERENCES "numbers"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "leads" ADD CONSTRAINT "leads_company_id_dial_number_id_fkey" FOREIGN KEY ("company_id", "dial_number_id") REFERENCES "numbers"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "scheduled_callbacks" ADD CONSTRAINT "scheduled_callbacks_company_id_lead_id_fkey" FOREIGN KEY ("company_id", "lead_id") REFERENCES "leads"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "lead_logs" ADD CONSTRAINT "lead_logs_company_id_lead_id_fkey" FOREIGN KEY ("company_id", "lead_id") REFERENCES "leads"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "text_messages" ADD CONSTRAINT "text_messages_company_id_fkey" FOREIGN KEY ("company_id") REFERENCES "companies"("id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "text_messages" ADD CONSTRAINT "text_messages_company_id_lead_id_fkey" FOREIGN KEY ("company_id", "lead_id") REFERENCES "leads"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "emails" ADD CONSTRAINT "emails_company_id_fkey" FOREIGN KEY ("company_id") REFERENCES "companies"("id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "emails" ADD CONSTRAINT "emails_company_id_lead_id_fkey" FOREIGN KEY ("company_id", "lead_id") REFERENCES "leads"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "calls" ADD CONSTRAINT "calls_company_id_fkey" FOREIGN KEY ("company_id") REFERENCES "companies"("id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "calls" ADD CONSTRAINT "calls_company_id_lead_id_fkey" FOREIGN KEY ("company_id", "lead_id") REFERENCES "leads"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- What Prisma's schema language cannot say.

ALTER TABLE "lead_tokens" ADD CONSTRAINT "lead_tokens_owner_check" CHECK (("offer_id" IS NULL) <> ("schedule_id" IS NULL));
ALTER TABLE "leads" ADD CONSTRAINT "leads_owner_check" CHECK ("offer_id" IS NOT NULL OR "schedule_id" IS NOT NULL);
-- What has ended has nothing before it, and what is claimed comes back when the claim is over.
ALTER TABLE "leads" ADD CONSTRAINT "leads_due_check" CHECK ("due_at" IS NULL OR ("is_live" AND "deleted_at" IS NULL));
ALTER TABLE "leads" ADD CONSTRAINT "leads_claim_check" CHECK ("claim_id" IS NULL OR "due_at" IS NOT NULL);
ALTER TABLE "leads" ADD CONSTRAINT "leads_deleted_check" CHECK ("deleted_at" IS NULL OR NOT "is_live");
ALTER TABLE "leads" ADD CONSTRAINT "leads_data_check" CHECK (octet_length("data"::text) <= 131072);
ALTER TABLE "leads" ADD CONSTRAINT "leads_phase_check" CHECK ("phase" IN ('actions', 'end'));

-- A submission waits for nothing but its own row: leads share few pages while they wait for their turn, and change often.
ALTER TABLE "leads" SET (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

-- `fulltext` searches these expressions, and src/resources name them letter by letter.
CREATE INDEX "offers_fulltext_idx" ON "offers" USING gin ("company_id", (lower(coalesce("name", '') || E'\n' || coalesce("user_offer_id", '') || E'\n' || coalesce("description", '') || E'\n' || coalesce("external_record_id", ''))) gin_trgm_ops) WHERE "deleted_at" IS NULL;
CREATE INDEX "traffic_sources_fulltext_idx" ON "traffic_sources" USING gin ("company_id", (lower(coalesce("name", '') || E'\n' || coalesce("user_traffic_source_id", '') || E'\n' || coalesce("email", '') || E'\n' || coalesce("external_record_id", ''))) gin_trgm_ops) WHERE "deleted_at" IS NULL;
CREATE INDEX "schedules_fulltext_idx" ON "schedules" USING gin ("company_id", (lower(coalesce("name", '') || E'\n' || coalesce("user_schedule_id", '') || E'\n' || coalesce("description", '') || E'\n' || coalesce("external_record_id", ''))) gin_trgm_ops) WHERE "deleted_at" IS NULL;
CREATE INDEX "schedule_actions_fulltext_idx" ON "schedule_actions" USING gin ("company_id", (lower(coalesce("name", '') || E'\n' || coalesce("subject", '') || E'\n' || coalesce("body", ''))) gin_trgm_ops) WHERE "deleted_at" IS NULL;
CREATE INDEX "leads_fulltext_idx" ON "leads" USING gin ("company_id", (lower(coalesce("caller_number"::text, '') || E'\n' || coalesce("email", '') || E'\n' || coalesce("data"->>'full_name', "data"->>'name', coalesce("data"->>'first_name', '') || ' ' || coalesce("data"->>'last_name', '')))) gin_trgm_ops) WHERE "deleted_at" IS NULL;
