-- How far a message, an e-mail or a call has come. Carriers report twice, late, and before a
-- delivery is recorded: its status is only replaced by one that is at least as far.
CREATE OR REPLACE FUNCTION delivery_rank(status text) RETURNS integer LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE status
    WHEN 'sending' THEN 0
    WHEN 'queued' THEN 1
    WHEN 'ringing' THEN 2
    WHEN 'sent' THEN 2
    WHEN 'in_progress' THEN 3
    ELSE 4
  END
$$;
