-- What the background could not do, until it can again: /readyz and doctor show it.
CREATE TABLE loop_faults (
  name text NOT NULL,
  first_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  last_at timestamptz(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  -- unless it fails again before, it counts as over then
  ends_at timestamptz(3) NOT NULL,
  CONSTRAINT loop_faults_pkey PRIMARY KEY (name)
);
