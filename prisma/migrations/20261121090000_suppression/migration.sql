-- AlterTable
ALTER TABLE "companies" ADD COLUMN "country" TEXT NOT NULL DEFAULT 'US';

-- CreateTable
CREATE TABLE "buyer_suppressions" (
    "company_id" BIGINT NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "uuid" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),
    "user_updated_at" TIMESTAMPTZ(3),
    "external_record_id" TEXT,
    "name" TEXT NOT NULL,
    "caller_id_column_name" TEXT,
    "headers" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "blocked" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "buyer_suppressions_pkey" PRIMARY KEY ("company_id","id")
);

-- CreateTable
CREATE TABLE "buyer_suppression_buyers" (
    "company_id" BIGINT NOT NULL,
    "buyer_suppression_id" BIGINT NOT NULL,
    "buyer_id" BIGINT NOT NULL,

    CONSTRAINT "buyer_suppression_buyers_pkey" PRIMARY KEY ("company_id","buyer_suppression_id","buyer_id")
);

-- CreateTable
CREATE TABLE "buyer_suppression_numbers" (
    "company_id" BIGINT NOT NULL,
    "buyer_suppression_id" BIGINT NOT NULL,
    "number" BIGINT NOT NULL,

    CONSTRAINT "buyer_suppression_numbers_pkey" PRIMARY KEY ("company_id","buyer_suppression_id","number")
);

-- CreateTable
CREATE TABLE "buyer_suppression_files" (
    "company_id" BIGINT NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "uuid" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),
    "user_updated_at" TIMESTAMPTZ(3),
    "external_record_id" TEXT,
    "name" TEXT,
    "buyer_suppression_id" BIGINT,
    "apply_block_or_unblock" TEXT NOT NULL,
    "user_id" BIGINT,
    "status" TEXT NOT NULL,
    "caller_id_column_name" TEXT,
    "headers" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "found_column_name" TEXT,
    "found_headers" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "error_message" TEXT,
    "import_file_key" TEXT,
    "import_file_name" TEXT,
    "import_file_bytes" BIGINT,
    "total_count" BIGINT,
    "import_count" BIGINT NOT NULL DEFAULT 0,
    "rejected_count" BIGINT NOT NULL DEFAULT 0,
    "added_count" BIGINT NOT NULL DEFAULT 0,
    "removed_count" BIGINT NOT NULL DEFAULT 0,
    "queue_position" BIGINT,
    "job_id" UUID,
    "run_id" UUID,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "started_at" TIMESTAMPTZ(3),
    "stopped_at" TIMESTAMPTZ(3),
    "failed_at" TIMESTAMPTZ(3),
    "succeeded_at" TIMESTAMPTZ(3),

    CONSTRAINT "buyer_suppression_files_pkey" PRIMARY KEY ("company_id","id")
);

-- CreateTable
CREATE TABLE "rejected_rows" (
    "company_id" BIGINT NOT NULL,
    "buyer_suppression_file_id" BIGINT NOT NULL,
    "line" BIGINT NOT NULL,
    "caller_id" TEXT NOT NULL,
    "reason" TEXT NOT NULL,

    CONSTRAINT "rejected_rows_pkey" PRIMARY KEY ("company_id","buyer_suppression_file_id","line")
);

-- CreateIndex
CREATE INDEX "buyer_suppressions_company_id_created_at_id_idx" ON "buyer_suppressions"("company_id", "created_at", "id") WHERE (deleted_at IS NULL);

-- CreateIndex
CREATE UNIQUE INDEX "buyer_suppressions_company_id_uuid_key" ON "buyer_suppressions"("company_id", "uuid");

-- CreateIndex
CREATE INDEX "buyer_suppression_buyers_company_id_buyer_id_buyer_suppress_idx" ON "buyer_suppression_buyers"("company_id", "buyer_id", "buyer_suppression_id");

-- CreateIndex
CREATE INDEX "buyer_suppression_files_company_id_buyer_suppression_id_que_idx" ON "buyer_suppression_files"("company_id", "buyer_suppression_id", "queue_position");

-- CreateIndex
CREATE INDEX "buyer_suppression_files_company_id_created_at_id_idx" ON "buyer_suppression_files"("company_id", "created_at", "id") WHERE (deleted_at IS NULL);

-- CreateIndex
CREATE UNIQUE INDEX "buyer_suppression_files_company_id_uuid_key" ON "buyer_suppression_files"("company_id", "uuid");

-- AddForeignKey
ALTER TABLE "buyer_suppressions" ADD CONSTRAINT "buyer_suppressions_company_id_fkey" FOREIGN KEY ("company_id") REFERENCES "companies"("id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "buyer_suppression_buyers" ADD CONSTRAINT "buyer_suppression_buyers_company_id_buyer_suppression_id_fkey" FOREIGN KEY ("company_id", "buyer_suppression_id") REFERENCES "buyer_suppressions"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "buyer_suppression_buyers" ADD CONSTRAINT "buyer_suppression_buyers_company_id_buyer_id_fkey" FOREIGN KEY ("company_id", "buyer_id") REFERENCES "buyers"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "buyer_suppression_files" ADD CONSTRAINT "buyer_suppression_files_company_id_fkey" FOREIGN KEY ("company_id") REFERENCES "companies"("id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "buyer_suppression_files" ADD CONSTRAINT "buyer_suppression_files_company_id_buyer_suppression_id_fkey" FOREIGN KEY ("company_id", "buyer_suppression_id") REFERENCES "buyer_suppressions"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "buyer_suppression_files" ADD CONSTRAINT "buyer_suppression_files_company_id_user_id_fkey" FOREIGN KEY ("company_id", "user_id") REFERENCES "users"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "rejected_rows" ADD CONSTRAINT "rejected_rows_company_id_buyer_suppression_file_id_fkey" FOREIGN KEY ("company_id", "buyer_suppression_file_id") REFERENCES "buyer_suppression_files"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- What Prisma's schema language cannot say.

ALTER TABLE "companies" ADD CONSTRAINT "companies_country_check" CHECK ("country" ~ '^[A-Z]{2}$');
ALTER TABLE "buyer_suppressions" ADD CONSTRAINT "buyer_suppressions_blocked_check" CHECK ("blocked" >= 0);
ALTER TABLE "buyer_suppression_files" ADD CONSTRAINT "buyer_suppression_files_status_check" CHECK ("status" IN ('pending', 'running', 'succeeded', 'failed', 'stopped'));
ALTER TABLE "buyer_suppression_files" ADD CONSTRAINT "buyer_suppression_files_apply_check" CHECK ("apply_block_or_unblock" IN ('block', 'unblock'));
-- What is at work has its file, its list and its place, and no more rows are done than there are.
ALTER TABLE "buyer_suppression_files" ADD CONSTRAINT "buyer_suppression_files_running_check" CHECK ("status" <> 'running' OR ("import_file_key" IS NOT NULL AND "buyer_suppression_id" IS NOT NULL AND "queue_position" IS NOT NULL AND "run_id" IS NOT NULL));
ALTER TABLE "buyer_suppression_files" ADD CONSTRAINT "buyer_suppression_files_count_check" CHECK ("import_count" >= 0 AND "rejected_count" >= 0 AND "import_count" + "rejected_count" <= coalesce("total_count", 0));

-- `fulltext` searches these expressions, and src/resources name them letter by letter.
CREATE INDEX "buyer_suppressions_fulltext_idx" ON "buyer_suppressions" USING gin ("company_id", (lower(coalesce("name", '') || E'\n' || coalesce("external_record_id", ''))) gin_trgm_ops) WHERE "deleted_at" IS NULL;
CREATE INDEX "buyer_suppression_files_fulltext_idx" ON "buyer_suppression_files" USING gin ("company_id", (lower(coalesce("name", '') || E'\n' || coalesce("external_record_id", ''))) gin_trgm_ops) WHERE "deleted_at" IS NULL;

-- The order in which the files of a list came.
CREATE SEQUENCE suppression_file_positions;
