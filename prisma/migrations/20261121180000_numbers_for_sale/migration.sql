-- AlterTable
ALTER TABLE "numbers" ADD COLUMN     "forward_type" TEXT NOT NULL DEFAULT 'offer_id',
ADD COLUMN     "buyer_id" BIGINT;

-- AlterTable
ALTER TABLE "number_lookups" ALTER COLUMN "number_id" DROP NOT NULL,
ADD COLUMN     "purchase_key" UUID,
ADD COLUMN     "purchase_tried_at" TIMESTAMPTZ(3);

-- AddForeignKey
ALTER TABLE "numbers" ADD CONSTRAINT "numbers_company_id_buyer_id_fkey" FOREIGN KEY ("company_id", "buyer_id") REFERENCES "buyers"("company_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- What Prisma cannot say: a number that forwards to a buyer has one, and what is looked up is owned or being bought.
ALTER TABLE "numbers" ADD CONSTRAINT "numbers_forward_type_check" CHECK ("forward_type" = 'offer_id' OR ("forward_type" = 'buyer_id' AND ("buyer_id" IS NOT NULL OR "deleted_at" IS NOT NULL)));
ALTER TABLE "number_lookups" ADD CONSTRAINT "number_lookups_owned_or_bought_check" CHECK (("number_id" IS NULL) = ("purchase_key" IS NOT NULL) AND ("purchase_key" IS NULL) = ("purchase_tried_at" IS NULL));

-- CreateIndex
CREATE INDEX "numbers_company_id_created_at_id_idx" ON "numbers"("company_id", "created_at", "id") WHERE (deleted_at IS NULL);

-- CreateIndex
CREATE INDEX "numbers_company_id_name_id_idx" ON "numbers"("company_id", "name", "id") WHERE (deleted_at IS NULL);

-- CreateIndex
CREATE INDEX "numbers_company_id_offer_id_id_idx" ON "numbers"("company_id", "offer_id", "id") WHERE (deleted_at IS NULL AND offer_id IS NOT NULL);

-- CreateIndex
CREATE INDEX "numbers_company_id_buyer_id_id_idx" ON "numbers"("company_id", "buyer_id", "id") WHERE (deleted_at IS NULL AND buyer_id IS NOT NULL);

-- CreateIndex
CREATE INDEX "numbers_company_id_traffic_source_id_id_idx" ON "numbers"("company_id", "traffic_source_id", "id") WHERE (deleted_at IS NULL AND traffic_source_id IS NOT NULL);

-- CreateIndex
CREATE INDEX "number_lookups_unfinished_idx" ON "number_lookups"("company_id", "phone_number") WHERE (number_id IS NULL);

-- `fulltext` searches this expression, and src/resources names it letter by letter.
CREATE INDEX "numbers_fulltext_idx" ON "numbers" USING gin ("company_id", (lower(coalesce("name", '') || E'\n' || coalesce("phone_number"::text, '') || E'\n' || coalesce("external_record_id", ''))) gin_trgm_ops) WHERE "deleted_at" IS NULL;

