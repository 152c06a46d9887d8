-- CreateTable
CREATE TABLE "call_centers" (
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
    "user_call_center_id" TEXT,

    CONSTRAINT "call_centers_pkey" PRIMARY KEY ("company_id","id")
);

-- CreateTable
CREATE TABLE "agent_statuses" (
    "company_id" BIGINT NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "uuid" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),
    "user_updated_at" TIMESTAMPTZ(3),
    "external_record_id" TEXT,
    "key" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "is_online" BOOLEAN NOT NULL,
    "position" INTEGER NOT NULL DEFAULT 0,
    "built_in" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "agent_statuses_pkey" PRIMARY KEY ("company_id","id")
);

-- CreateTable
CREATE TABLE "agents" (
    "company_id" BIGINT NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "uuid" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),
    "user_updated_at" TIMESTAMPTZ(3),
    "external_record_id" TEXT,
    "user_id" BIGINT NOT NULL,
    "name" TEXT,
    "agent_status_id" BIGINT NOT NULL,
    "status_changed_at" TIMESTAMPTZ(3) NOT NULL,
    "last_event_id" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "agents_pkey" PRIMARY KEY ("company_id","id")
);

-- CreateTable
CREATE TABLE "agent_call_centers" (
    "company_id" BIGINT NOT NULL,
    "agent_id" BIGINT NOT NULL,
    "call_center_id" BIGINT NOT NULL,

    CONSTRAINT "agent_call_centers_pkey" PRIMARY KEY ("company_id","agent_id","call_center_id")
);

-- CreateTable
CREATE TABLE "agent_buyers" (
    "company_id" BIGINT NOT NULL,
    "agent_id" BIGINT NOT NULL,
    "buyer_id" BIGINT NOT NULL,

    CONSTRAINT "agent_buyers_pkey" PRIMARY KEY ("company_id","agent_id","buyer_id")
);

-- CreateTable
CREATE TABLE "agent_status_timestamps" (
    "company_id" BIGINT NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "agent_id" BIGINT NOT NULL,
    "user_id" BIGINT NOT NULL,
    "agent_status_id" BIGINT NOT NULL,
    "key" TEXT NOT NULL,

    CONSTRAINT "agent_status_timestamps_pkey" PRIMARY KEY ("company_id","id")
);

-- CreateTable
CREATE TABLE "agent_messages" (
    "company_id" BIGINT NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "uuid" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),
    "user_updated_at" TIMESTAMPTZ(3),
    "external_record_id" TEXT,
    "content" TEXT,
    "agent_status_id" BIGINT,
    "user_id" BIGINT,
    "agent_widget_count" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "agent_messages_pkey" PRIMARY KEY ("company_id","id")
);

-- CreateTable
CREATE TABLE "agent_message_buyers" (
    "company_id" BIGINT NOT NULL,
    "agent_message_id" BIGINT NOT NULL,
    "buyer_id" BIGINT NOT NULL,

    CONSTRAINT "agent_message_buyers_pkey" PRIMARY KEY ("company_id","agent_message_id","buyer_id")
);

-- CreateTable
CREATE TABLE "agent_message_buyer_groups" (
    "company_id" BIGINT NOT NULL,
    "agent_message_id" BIGINT NOT NULL,
    "buyer_group_id" BIGINT NOT NULL,

    CONSTRAINT "agent_message_buyer_groups_pkey" PRIMARY KEY ("company_id","agent_message_id","buyer_group_id")
);

-- CreateTable
CREATE TABLE "agent_message_call_centers" (
    "company_id" BIGINT NOT NULL,
    "agent_message_id" BIGINT NOT NULL,
    "call_center_id" BIGINT NOT NULL,

    CONSTRAINT "agent_message_call_centers_pkey" PRIMARY KEY ("company_id","agent_message_id","call_center_id")
);

-- CreateTable
CREATE TABLE "agent_message_recipients" (
    "company_id" BIGINT NOT NULL,
    "agent_id" BIGINT NOT NULL,
    "agent_message_id" BIGINT NOT NULL,

    CONSTRAINT "agent_message_recipients_pkey" PRIMARY KEY ("company_id","agent_id","agent_message_id")
);

-- CreateTable
CREATE TABLE "agent_events" (
    "company_id" BIGINT NOT NULL,
    "agent_id" BIGINT NOT NULL,
    "event_id" BIGINT NOT NULL,
    "agent_message_id" BIGINT NOT NULL,

    CONSTRAINT "agent_events_pkey" PRIMARY KEY ("company_id","agent_id","event_id")
);

-- CreateIndex
CREATE UNIQUE INDEX "call_centers_company_id_uuid_key" ON "call_centers"("company_id", "uuid");

-- CreateIndex
CREATE UNIQUE INDEX "call_centers_company_id_user_call_center_id_key" ON "call_centers"("company_id", "user_call_center_id") WHERE (deleted_at IS NULL);

-- CreateIndex
CREATE UNIQUE INDEX "agent_statuses_company_id_uuid_key" ON "agent_statuses"("company_id", "uuid");

-- CreateIndex
CREATE UNIQUE INDEX "agent_statuses_company_id_key_key" ON "agent_statuses"("company_id", "key") WHERE (deleted_at IS NULL);

-- CreateIndex
CREATE INDEX "agents_company_id_agent_status_id_idx" ON "agents"("company_id", "agent_status_id") WHERE (deleted_at IS NULL);

-- CreateIndex
CREATE UNIQUE INDEX "agents_company_id_uuid_key" ON "agents"("company_id", "uuid");

-- CreateIndex
CREATE UNIQUE INDEX "agents_company_id_user_id_key" ON "agents"("company_id", "user_id") WHERE (deleted_at IS NULL);

-- CreateIndex
CREATE INDEX "agent_call_centers_company_id_call_center_id_idx" ON "agent_call_centers"("company_id", "call_center_id");

-- CreateIndex
CREATE INDEX "agent_buyers_company_id_buyer_id_idx" ON "agent_buyers"("company_id", "buyer_id");

-- CreateIndex
CREATE INDEX "agent_status_timestamps_company_id_agent_id_id_idx" ON "agent_status_timestamps"("company_id", "agent_id", "id");

-- CreateIndex
CREATE INDEX "agent_status_timestamps_company_id_user_id_id_idx" ON "agent_status_timestamps"("company_id", "user_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "agent_messages_company_id_uuid_key" ON "agent_messages"("company_id", "uuid");

-- CreateIndex
CREATE INDEX "agent_message_buyers_company_id_buyer_id_idx" ON "agent_message_buyers"("company_id", "buyer_id");

-- CreateIndex
CREATE INDEX "agent_message_buyer_groups_company_id_buyer_group_id_idx" ON "agent_message_buyer_groups"("company_id", "buyer_group_id");

-- CreateIndex
CREATE INDEX "agent_message_call_centers_company_id_call_center_id_idx" ON "agent_message_call_centers"("company_id", "call_center_id");

-- CreateIndex
CREATE INDEX "agent_message_recipients_company_id_agent_message_id_idx" ON "agent_message_recipients"("company_id", "agent_message_id");

-- AddForeignKey
ALTER TABLE "call_centers" ADD CONSTRAINT "call_centers_company_id_fkey" FOREIGN KEY ("company_id") REFERENCES "companies"("id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "agent_statuses" ADD CONSTRAINT "agent_statuses_company_id_fkey" FOREIGN KEY ("company_id") REFERENCES "companies"("id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "agents" ADD CONSTRAINT "agents_company_id_fkey" FOREIGN KEY ("company_id") REFERENCES "companies"("id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "agents" ADD CONSTRAINT "agents_company_id_user_id_fkey" FOREIGN KEY ("company_id", "user_id") REFERENCES "users"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "agents" ADD CONSTRAINT "agents_company_id_agent_status_id_fkey" FOREIGN KEY ("company_id", "agent_status_id") REFERENCES "agent_statuses"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "agent_call_centers" ADD CONSTRAINT "agent_call_centers_company_id_agent_id_fkey" FOREIGN KEY ("company_id", "agent_id") REFERENCES "agents"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "agent_call_centers" ADD CONSTRAINT "agent_call_centers_company_id_call_center_id_fkey" FOREIGN KEY ("company_id", "call_center_id") REFERENCES "call_centers"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "agent_buyers" ADD CONSTRAINT "agent_buyers_company_id_agent_id_fkey" FOREIGN KEY ("company_id", "agent_id") REFERENCES "agents"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "agent_buyers" ADD CONSTRAINT "agent_buyers_company_id_buyer_id_fkey" FOREIGN KEY ("company_id", "buyer_id") REFERENCES "buyers"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "agent_status_timestamps" ADD CONSTRAINT "agent_status_timestamps_company_id_agent_id_fkey" FOREIGN KEY ("company_id", "agent_id") REFERENCES "agents"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "agent_status_timestamps" ADD CONSTRAINT "agent_status_timestamps_company_id_user_id_fkey" FOREIGN KEY ("company_id", "user_id") REFERENCES "users"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "agent_status_timestamps" ADD CONSTRAINT "agent_status_timestamps_company_id_agent_status_id_fkey" FOREIGN KEY ("company_id", "agent_status_id") REFERENCES "agent_statuses"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "agent_messages" ADD CONSTRAINT "agent_messages_company_id_fkey" FOREIGN KEY ("company_id") REFERENCES "companies"("id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "agent_messages" ADD CONSTRAINT "agent_messages_company_id_agent_status_id_fkey" FOREIGN KEY ("company_id", "agent_status_id") REFERENCES "agent_statuses"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "agent_messages" ADD CONSTRAINT "agent_messages_company_id_user_id_fkey" FOREIGN KEY ("company_id", "user_id") REFERENCES "users"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "agent_message_buyers" ADD CONSTRAINT "agent_message_buyers_company_id_agent_message_id_fkey" FOREIGN KEY ("company_id", "agent_message_id") REFERENCES "agent_messages"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "agent_message_buyers" ADD CONSTRAINT "agent_message_buyers_company_id_buyer_id_fkey" FOREIGN KEY ("company_id", "buyer_id") REFERENCES "buyers"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "agent_message_buyer_groups" ADD CONSTRAINT "agent_message_buyer_groups_company_id_agent_message_id_fkey" FOREIGN KEY ("company_id", "agent_message_id") REFERENCES "agent_messages"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "agent_message_buyer_groups" ADD CONSTRAINT "agent_message_buyer_groups_company_id_buyer_group_id_fkey" FOREIGN KEY ("company_id", "buyer_group_id") REFERENCES "buyer_groups"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "agent_message_call_centers" ADD CONSTRAINT "agent_message_call_centers_company_id_agent_message_id_fkey" FOREIGN KEY ("company_id", "agent_message_id") REFERENCES "agent_messages"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "agent_message_call_centers" ADD CONSTRAINT "agent_message_call_centers_company_id_call_center_id_fkey" FOREIGN KEY ("company_id", "call_center_id") REFERENCES "call_centers"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "agent_message_recipients" ADD CONSTRAINT "agent_message_recipients_company_id_agent_id_fkey" FOREIGN KEY ("company_id", "agent_id") REFERENCES "agents"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "agent_message_recipients" ADD CONSTRAINT "agent_message_recipients_company_id_agent_message_id_fkey" FOREIGN KEY ("company_id", "agent_message_id") REFERENCES "agent_messages"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "agent_events" ADD CONSTRAINT "agent_events_company_id_agent_id_fkey" FOREIGN KEY ("company_id", "agent_id") REFERENCES "agents"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "agent_events" ADD CONSTRAINT "agent_events_company_id_agent_message_id_fkey" FOREIGN KEY ("company_id", "agent_message_id") REFERENCES "agent_messages"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- What Prisma's schema language cannot say.

ALTER TABLE "agents" ADD CONSTRAINT "agents_last_event_check" CHECK ("last_event_id" >= 0);

CREATE INDEX "call_centers_fulltext_idx" ON "call_centers" USING gin ("company_id", (lower(coalesce("name", '') || E'\n' || coalesce("user_call_center_id", '') || E'\n' || coalesce("description", '') || E'\n' || coalesce("external_record_id", ''))) gin_trgm_ops) WHERE "deleted_at" IS NULL;
CREATE INDEX "agent_statuses_fulltext_idx" ON "agent_statuses" USING gin ("company_id", (lower(coalesce("key", '') || E'\n' || coalesce("name", '') || E'\n' || coalesce("external_record_id", ''))) gin_trgm_ops) WHERE "deleted_at" IS NULL;
CREATE INDEX "agent_messages_fulltext_idx" ON "agent_messages" USING gin ("company_id", (lower(coalesce("content", '') || E'\n' || coalesce("external_record_id", ''))) gin_trgm_ops) WHERE "deleted_at" IS NULL;
CREATE INDEX "agent_status_timestamps_fulltext_idx" ON "agent_status_timestamps" USING gin ("company_id", (lower(coalesce("key", ''))) gin_trgm_ops);

-- Every company has the built-in statuses. Those made from here on get them in create-company.ts. A uuid of version 7 is one of version 4 with the time in front.
INSERT INTO "agent_statuses" ("company_id", "uuid", "key", "name", "is_online", "position", "built_in")
SELECT c."id", encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid()) placing substring(int8send(floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3) FROM 1 FOR 6), 52, 1), 53, 1), 'hex')::uuid, s."key", s."name", s."key" <> 'offline', s."position", true
FROM "companies" c, (VALUES ('available', 'Available', 1), ('on_call', 'On call', 2), ('wrap_up', 'Wrap-up', 3), ('away', 'Away', 4), ('offline', 'Offline', 5)) AS s("key", "name", "position")
ORDER BY c."id", s."position";

INSERT INTO "record_counts" ("company_id", "resource", "slot", "n") SELECT "id", 'agent_statuses', 0, 5 FROM "companies";
