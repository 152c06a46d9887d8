CREATE TABLE "change_logs" (
    "company_id" BIGINT NOT NULL,
    "id" BIGSERIAL NOT NULL,
    "uuid" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "record_type" TEXT NOT NULL,
    "record_id" BIGINT,
    "action" TEXT NOT NULL,
    "operation" TEXT NOT NULL,
    "changes" JSON NOT NULL,
    "user_id" BIGINT,
    "user_email" TEXT,
    "access_token_id" BIGINT,
    "credentials" TEXT NOT NULL,
    "request_id" TEXT NOT NULL,
    "ip" TEXT,

    CONSTRAINT "change_logs_pkey" PRIMARY KEY ("company_id","id")
);

CREATE INDEX "change_logs_company_id_record_type_record_id_id_idx" ON "change_logs"("company_id", "record_type", "record_id", "id");

CREATE INDEX "change_logs_company_id_user_id_id_idx" ON "change_logs"("company_id", "user_id", "id") WHERE (user_id IS NOT NULL);

CREATE INDEX "change_logs_company_id_access_token_id_id_idx" ON "change_logs"("company_id", "access_token_id", "id");

CREATE INDEX "change_logs_company_id_created_at_id_idx" ON "change_logs"("company_id", "created_at", "id");

CREATE INDEX "change_logs_company_id_action_id_idx" ON "change_logs"("company_id", "action", "id");

CREATE INDEX "change_logs_company_id_request_id_idx" ON "change_logs"("company_id", "request_id");

CREATE UNIQUE INDEX "change_logs_company_id_uuid_key" ON "change_logs"("company_id", "uuid");

ALTER TABLE "change_logs" ADD CONSTRAINT "change_logs_company_id_fkey" FOREIGN KEY ("company_id") REFERENCES "companies"("id") ON DELETE NO ACTION ON UPDATE NO ACTION;
