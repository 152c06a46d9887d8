-- Fails where nothing can be written: with 25006 on a database that can only be read, with 53100 on
-- a full disk. A row that needs a page of its own is inserted into `processes` and taken back:
-- changing a row that exists would still succeed on a full disk.
CREATE OR REPLACE FUNCTION check_writes() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  -- Random bytes, which cannot be compressed into a page that exists.
  INSERT INTO processes (id, kind, host, pid)
  SELECT gen_random_uuid(), 'server', string_agg(md5(random()::text), ''), 0
  FROM generate_series(1, 256);
  RAISE SQLSTATE 'TL000';
EXCEPTION
  -- What was inserted before it is taken back.
  WHEN SQLSTATE 'TL000' THEN NULL;
END $$;
