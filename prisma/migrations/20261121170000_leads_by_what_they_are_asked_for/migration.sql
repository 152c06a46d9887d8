-- CreateIndex
CREATE INDEX "leads_company_id_status_id_idx" ON "leads"("company_id", "status", "id") WHERE (deleted_at IS NULL);

-- CreateIndex
CREATE INDEX "leads_company_id_email_id_idx" ON "leads"("company_id", "email", "id") WHERE (deleted_at IS NULL AND email IS NOT NULL);

-- CreateIndex
CREATE INDEX "leads_company_id_buyer_id_id_idx" ON "leads"("company_id", "buyer_id", "id") WHERE (deleted_at IS NULL AND buyer_id IS NOT NULL);

-- CreateIndex
CREATE INDEX "leads_company_id_traffic_source_id_id_idx" ON "leads"("company_id", "traffic_source_id", "id") WHERE (deleted_at IS NULL AND traffic_source_id IS NOT NULL);

-- CreateIndex
CREATE INDEX "leads_buyer_converted_idx" ON "leads"("company_id", "id") WHERE (deleted_at IS NULL AND buyer_converted);
