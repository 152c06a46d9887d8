-- Leads with a next action are counted by the hour of it (prisma/functions.sql). No lead is written
-- between this count and the triggers that go on with it.
-- Both tables at once, as their triggers are replaced after it.
LOCK TABLE calls, leads IN ACCESS EXCLUSIVE MODE;

CREATE TABLE next_action_counts (
  company_id bigint NOT NULL,
  hour timestamptz(3) NOT NULL,
  id bigserial NOT NULL,
  n bigint NOT NULL,
  CONSTRAINT next_action_counts_pkey PRIMARY KEY (company_id, hour, id)
);
ALTER TABLE next_action_counts SET (
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_cost_delay = 0
);

INSERT INTO next_action_counts (company_id, hour, n)
SELECT company_id, date_trunc('hour', coalesce(callback_at, next_action_at), 'UTC'), count(*)
FROM leads
WHERE due_at IS NOT NULL AND coalesce(callback_at, next_action_at) IS NOT NULL
GROUP BY 1, 2;

DELETE FROM record_counts WHERE resource = 'leads/has_next_action';

-- What processes have counted of calls (src/db/settled-counts.ts), so that a new one need not begin
-- from nothing.
CREATE TABLE saved_counts (
  company_id bigint NOT NULL,
  key text NOT NULL,
  cluster text NOT NULL,
  counted json NOT NULL,
  used_at timestamptz(3) NOT NULL,
  CONSTRAINT saved_counts_pkey PRIMARY KEY (company_id, key),
  CONSTRAINT saved_counts_company_id_fkey FOREIGN KEY (company_id) REFERENCES companies (id)
);
