CREATE TABLE call_changes (
  company_id bigint NOT NULL,
  chunk bigint NOT NULL,
  slot integer NOT NULL,
  xid xid8 NOT NULL,
  CONSTRAINT call_changes_pkey PRIMARY KEY (company_id, chunk, slot),
  CONSTRAINT call_changes_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies (id)
);
CREATE INDEX call_changes_company_id_xid_idx ON call_changes (company_id, xid);
CREATE STATISTICS calls_chunks ON (id / 8192) FROM calls;

-- Every order of leads, whether the sort key can be null or not.
CREATE INDEX leads_company_id_updated_at_id_idx ON leads (company_id, updated_at, id)
  WHERE deleted_at IS NULL;
CREATE INDEX leads_company_id_lead_priority_id_idx ON leads (company_id, lead_priority, id)
  WHERE deleted_at IS NULL;
CREATE INDEX leads_company_id_last_action_at_id_idx ON leads (company_id, last_action_at, id)
  WHERE deleted_at IS NULL;
DROP INDEX leads_company_id_email_id_idx;
CREATE INDEX leads_company_id_email_id_idx ON leads (company_id, email, id)
  WHERE deleted_at IS NULL;
CREATE INDEX leads_next_action_idx ON leads (
  company_id, (CASE WHEN due_at IS NOT NULL THEN coalesce(callback_at, next_action_at) END), id
) INCLUDE (due_at, callback_at, next_action_at) WHERE deleted_at IS NULL;
CREATE STATISTICS leads_next_action ON (
  CASE WHEN due_at IS NOT NULL THEN coalesce(callback_at, next_action_at) END
) FROM leads;

INSERT INTO record_counts (company_id, resource, slot, n)
SELECT company_id, 'leads/has_next_action', 0, count(*)
FROM leads
WHERE due_at IS NOT NULL AND coalesce(callback_at, next_action_at) IS NOT NULL
  AND deleted_at IS NULL
GROUP BY company_id;
