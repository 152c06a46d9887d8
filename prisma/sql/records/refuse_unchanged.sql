-- Ends the statement of a write that would change nothing of a record but when it was written: no
-- one made that change (src/data/projection/write-log.ts).
CREATE OR REPLACE FUNCTION refuse_unchanged() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the record would not change' USING ERRCODE = 'UN001';
END
$$;
