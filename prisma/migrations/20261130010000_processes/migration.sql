-- Which processes run on this database, and what must be equal in all of them.

CREATE TABLE processes (
  id uuid NOT NULL,
  kind text NOT NULL,
  host text NOT NULL,
  pid integer NOT NULL,
  started_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  seen_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT processes_pkey PRIMARY KEY (id)
);

ALTER TABLE installations
  ADD COLUMN storage_id uuid,
  ADD COLUMN settings json;
