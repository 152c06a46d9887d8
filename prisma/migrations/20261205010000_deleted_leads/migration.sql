-- Leads that were deleted are removed for good when LEAD_DAYS have passed.
CREATE INDEX leads_deleted_idx ON leads (company_id, deleted_at, id) WHERE deleted_at IS NOT NULL;
