-- What belongs to the database as a whole, and which companies are demos.

CREATE TABLE installations (
  id integer NOT NULL DEFAULT 1,
  pepper_check bytea NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT installations_pkey PRIMARY KEY (id),
  CONSTRAINT installations_id_check CHECK (id = 1)
);

ALTER TABLE companies ADD COLUMN demo boolean NOT NULL DEFAULT false;
