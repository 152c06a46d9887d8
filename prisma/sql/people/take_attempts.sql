-- Counts a guess at each of these subjects before it is tried, so that parallel ones do not pass.
-- Where one of them must wait, nothing is counted and the seconds are returned; else 0. From the
-- last free guess on, each makes the subject wait: 30 seconds, then twice as long, up to a quarter
-- of an hour. Counts begin again after their hours. The rows are locked in the order given, which
-- is that of the subjects.
CREATE OR REPLACE FUNCTION take_attempts(
  subjects text[], free_guesses integer[], window_hours integer[], tried_at timestamptz
) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  n integer;
  waits timestamptz := tried_at;
  until timestamptz;
BEGIN
  FOR n IN 1 .. cardinality(subjects) LOOP
    INSERT INTO sign_in_attempts AS a (subject, since, failures)
      VALUES (subjects[n], tried_at, 0)
      ON CONFLICT (subject) DO UPDATE SET
        since = CASE WHEN a.since <= tried_at - make_interval(hours => window_hours[n])
          THEN tried_at ELSE a.since END,
        failures = CASE WHEN a.since <= tried_at - make_interval(hours => window_hours[n])
          THEN 0 ELSE a.failures END
      RETURNING a.waits_until INTO until;
    waits := greatest(waits, until);
  END LOOP;
  IF waits > tried_at THEN
    RETURN ceil(extract(epoch FROM waits - tried_at))::integer;
  END IF;
  FOR n IN 1 .. cardinality(subjects) LOOP
    UPDATE sign_in_attempts a SET
        failures = a.failures + 1,
        waits_until = CASE WHEN a.failures + 1 >= free_guesses[n]
          THEN tried_at + least(
            interval '15 minutes',
            interval '30 seconds' * 2 ^ least(a.failures + 1 - free_guesses[n], 9)
          ) END
      WHERE a.subject = subjects[n];
  END LOOP;
  RETURN 0;
END $$;
