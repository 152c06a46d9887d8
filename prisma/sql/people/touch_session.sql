-- Records that a session is used, to the minute, and postpones its idle end up to its absolute one.
-- An ended or revoked session stays as it is. Locks: the login, its token, its session.
CREATE OR REPLACE FUNCTION touch_session(
  company bigint, token bigint, used_at timestamptz, idle_hours integer
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  person bigint;
  absolute_end timestamptz;
BEGIN
  SELECT a.user_id, s.ends_at INTO person, absolute_end
    FROM sessions s
    JOIN access_tokens a ON a.company_id = s.company_id AND a.id = s.access_token_id
    WHERE s.company_id = company AND s.access_token_id = token
      AND s.seen_at <= used_at - interval '1 minute'
      AND a.deleted_at IS NULL AND a.expires_at > used_at;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  UPDATE user_logins l SET seen_at = used_at
    WHERE l.company_id = company AND l.user_id = person;
  UPDATE access_tokens a
    SET expires_at = least(absolute_end, used_at + make_interval(hours => idle_hours))
    WHERE a.company_id = company AND a.id = token
      AND a.deleted_at IS NULL AND a.expires_at > used_at;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  UPDATE sessions s SET seen_at = used_at
    WHERE s.company_id = company AND s.access_token_id = token;
  RETURN true;
END $$;
