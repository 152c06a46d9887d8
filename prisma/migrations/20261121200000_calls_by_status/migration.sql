-- CreateIndex
CREATE INDEX "calls_company_id_status_id_idx" ON "calls"("company_id", "status", "id") WHERE (deleted_at IS NULL);
