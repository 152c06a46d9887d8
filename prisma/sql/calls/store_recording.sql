-- Keeps the file of a recording, which is stored already, as the one of a call. The file of an
-- earlier recording then belongs to no record, and housekeeping deletes it. `outcome` is 'stored';
-- 'repeated': the call has this very recording; or 'gone': the call is deleted.
--
-- Locks: the call.
CREATE OR REPLACE FUNCTION store_recording(
  company bigint,
  the_call bigint,
  at timestamptz,
  new_key text,
  new_type text,
  new_sha256 text,
  url text,
  OUT outcome text
) LANGUAGE plpgsql AS $$
DECLARE
  was calls;
  is_now calls;
BEGIN
  was := lock_call(company, the_call, NULL);
  IF was.id IS NULL OR was.deleted_at IS NOT NULL THEN
    outcome := 'gone';
    RETURN;
  END IF;
  IF was.recording_url = url AND EXISTS (
    SELECT
    FROM call_recordings r
    WHERE r.company_id = company AND r.call_id = the_call AND r.sha256 = new_sha256
  ) THEN
    outcome := 'repeated';
    RETURN;
  END IF;
  INSERT INTO call_recordings AS r (
    company_id, call_id, created_at, file_key, media_type, sha256
  )
    VALUES (company, the_call, at, new_key, new_type, new_sha256)
    ON CONFLICT (company_id, call_id) DO UPDATE SET
      created_at = excluded.created_at,
      file_key = excluded.file_key,
      media_type = excluded.media_type,
      sha256 = excluded.sha256;
  UPDATE calls c
    SET recording_url = url, updated_at = at
    WHERE c.company_id = company AND c.id = the_call
    RETURNING c.* INTO is_now;
  INSERT INTO call_events (company_id, created_at, call_id, event, message, details)
    VALUES (
      company, at, the_call, 'recording', 'stored here',
      jsonb_build_object('recording_url', url, 'media_type', new_type)
    );
  PERFORM record_call_change(was, is_now);
  outcome := 'stored';
END $$;
