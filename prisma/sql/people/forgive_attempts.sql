-- A guess was right: the first subject begins again, of the others this one guess is taken back. The
-- rows are locked in the order of the subjects, as by take_attempts().
CREATE OR REPLACE FUNCTION forgive_attempts(subjects text[], own text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  n integer;
BEGIN
  FOR n IN 1 .. cardinality(subjects) LOOP
    UPDATE sign_in_attempts a SET
        failures = CASE WHEN a.subject = own THEN 0 ELSE greatest(0, a.failures - 1) END,
        waits_until = CASE WHEN a.subject <> own THEN a.waits_until END
      WHERE a.subject = subjects[n];
  END LOOP;
END $$;
