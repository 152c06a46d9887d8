ALTER TABLE "users" ADD COLUMN "user_updated_at" TIMESTAMPTZ(3),
    ADD COLUMN "external_record_id" TEXT,
    ADD COLUMN "invitation_number" INTEGER NOT NULL DEFAULT 0,
    ADD COLUMN "invitation_open" BOOLEAN NOT NULL DEFAULT false,
    ADD COLUMN "invited_at" TIMESTAMPTZ(3),
    ADD COLUMN "joined_at" TIMESTAMPTZ(3);

CREATE TABLE "access_control_lists" (
    "company_id" BIGINT NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "uuid" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),
    "user_updated_at" TIMESTAMPTZ(3),
    "external_record_id" TEXT,
    "name" TEXT NOT NULL,
    "permissions" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "superuser" BOOLEAN NOT NULL DEFAULT false,
    "all_offers" BOOLEAN NOT NULL DEFAULT true,
    "generated_for_buyer_id" BIGINT,
    "generated_for_buyer_group_id" BIGINT,

    CONSTRAINT "access_control_lists_pkey" PRIMARY KEY ("company_id","id")
);

CREATE TABLE "access_control_list_users" (
    "company_id" BIGINT NOT NULL,
    "access_control_list_id" BIGINT NOT NULL,
    "user_id" BIGINT NOT NULL,

    CONSTRAINT "access_control_list_users_pkey" PRIMARY KEY ("company_id","access_control_list_id","user_id")
);

CREATE TABLE "access_control_list_buyers" (
    "company_id" BIGINT NOT NULL,
    "access_control_list_id" BIGINT NOT NULL,
    "buyer_id" BIGINT NOT NULL,

    CONSTRAINT "access_control_list_buyers_pkey" PRIMARY KEY ("company_id","access_control_list_id","buyer_id")
);

CREATE TABLE "access_control_list_buyer_groups" (
    "company_id" BIGINT NOT NULL,
    "access_control_list_id" BIGINT NOT NULL,
    "buyer_group_id" BIGINT NOT NULL,

    CONSTRAINT "access_control_list_buyer_groups_pkey" PRIMARY KEY ("company_id","access_control_list_id","buyer_group_id")
);

CREATE TABLE "access_control_list_offers" (
    "company_id" BIGINT NOT NULL,
    "access_control_list_id" BIGINT NOT NULL,
    "offer_id" BIGINT NOT NULL,

    CONSTRAINT "access_control_list_offers_pkey" PRIMARY KEY ("company_id","access_control_list_id","offer_id")
);

CREATE UNIQUE INDEX "access_control_lists_company_id_uuid_key" ON "access_control_lists"("company_id", "uuid");

CREATE UNIQUE INDEX "access_control_lists_company_id_generated_for_buyer_id_key" ON "access_control_lists"("company_id", "generated_for_buyer_id") WHERE (deleted_at IS NULL);

CREATE UNIQUE INDEX "access_control_lists_company_id_generated_for_buyer_group_i_key" ON "access_control_lists"("company_id", "generated_for_buyer_group_id") WHERE (deleted_at IS NULL);

CREATE INDEX "access_control_list_users_company_id_user_id_idx" ON "access_control_list_users"("company_id", "user_id");

CREATE INDEX "access_control_list_buyers_company_id_buyer_id_idx" ON "access_control_list_buyers"("company_id", "buyer_id");

CREATE INDEX "access_control_list_buyer_groups_company_id_buyer_group_id_idx" ON "access_control_list_buyer_groups"("company_id", "buyer_group_id");

CREATE INDEX "access_control_list_offers_company_id_offer_id_idx" ON "access_control_list_offers"("company_id", "offer_id");

ALTER TABLE "access_control_lists" ADD CONSTRAINT "access_control_lists_company_id_fkey" FOREIGN KEY ("company_id") REFERENCES "companies"("id") ON DELETE NO ACTION ON UPDATE NO ACTION;

ALTER TABLE "access_control_lists" ADD CONSTRAINT "access_control_lists_company_id_generated_for_buyer_id_fkey" FOREIGN KEY ("company_id", "generated_for_buyer_id") REFERENCES "buyers"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

ALTER TABLE "access_control_lists" ADD CONSTRAINT "access_control_lists_company_id_generated_for_buyer_group__fkey" FOREIGN KEY ("company_id", "generated_for_buyer_group_id") REFERENCES "buyer_groups"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

ALTER TABLE "access_control_list_users" ADD CONSTRAINT "access_control_list_users_company_id_access_control_list_i_fkey" FOREIGN KEY ("company_id", "access_control_list_id") REFERENCES "access_control_lists"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

ALTER TABLE "access_control_list_users" ADD CONSTRAINT "access_control_list_users_company_id_user_id_fkey" FOREIGN KEY ("company_id", "user_id") REFERENCES "users"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

ALTER TABLE "access_control_list_buyers" ADD CONSTRAINT "access_control_list_buyers_company_id_access_control_list__fkey" FOREIGN KEY ("company_id", "access_control_list_id") REFERENCES "access_control_lists"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

ALTER TABLE "access_control_list_buyers" ADD CONSTRAINT "access_control_list_buyers_company_id_buyer_id_fkey" FOREIGN KEY ("company_id", "buyer_id") REFERENCES "buyers"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

ALTER TABLE "access_control_list_buyer_groups" ADD CONSTRAINT "access_control_list_buyer_groups_company_id_access_control_fkey" FOREIGN KEY ("company_id", "access_control_list_id") REFERENCES "access_control_lists"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

ALTER TABLE "access_control_list_buyer_groups" ADD CONSTRAINT "access_control_list_buyer_groups_company_id_buyer_group_id_fkey" FOREIGN KEY ("company_id", "buyer_group_id") REFERENCES "buyer_groups"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

ALTER TABLE "access_control_list_offers" ADD CONSTRAINT "access_control_list_offers_company_id_access_control_list__fkey" FOREIGN KEY ("company_id", "access_control_list_id") REFERENCES "access_control_lists"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

ALTER TABLE "access_control_list_offers" ADD CONSTRAINT "access_control_list_offers_company_id_offer_id_fkey" FOREIGN KEY ("company_id", "offer_id") REFERENCES "offers"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

CREATE INDEX "users_fulltext_idx" ON "users" USING gin ("company_id", (lower(coalesce("email", '') || E'\n' || coalesce("name", '') || E'\n' || coalesce("external_record_id", ''))) gin_trgm_ops) WHERE "deleted_at" IS NULL;

CREATE INDEX "access_control_lists_fulltext_idx" ON "access_control_lists" USING gin ("company_id", (lower(coalesce("name", '') || E'\n' || coalesce("external_record_id", ''))) gin_trgm_ops) WHERE "deleted_at" IS NULL;

-- Users were made by tokens without being counted.
INSERT INTO "record_counts" ("company_id", "resource", "slot", "n") SELECT "company_id", 'users', 0, count(*) FROM "users" WHERE "deleted_at" IS NULL GROUP BY 1;
