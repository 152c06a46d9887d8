-- Each begun minute costs what the company's setting says at the end of the call. Carriers may tell
-- the duration after the end: whoever writes the end or the duration of a call writes this too.
CREATE OR REPLACE FUNCTION service_cost_of(
  company bigint, seconds integer, began_at timestamptz, end_at timestamptz
) RETURNS numeric LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF end_at IS NULL THEN
    RETURN 0;
  END IF;
  RETURN (
    SELECT c.service_cost_per_minute * ceil(greatest(
      0, coalesce(seconds::numeric, extract(epoch FROM end_at - began_at))
    ) / 60)
    FROM companies c
    WHERE c.id = company
  );
END $$;

-- The same for a call whose duration and end are written.
CREATE OR REPLACE FUNCTION service_cost_after(was calls, seconds integer, end_at timestamptz)
RETURNS numeric LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF end_at IS NULL
    OR end_at IS NOT DISTINCT FROM was.ended_at
    AND seconds IS NOT DISTINCT FROM was.total_duration
  THEN
    RETURN was.service_cost;
  END IF;
  RETURN service_cost_of(was.company_id, seconds, was.created_at, end_at);
END $$;

-- A carrier tells what a call has cost some time after its end.
CREATE OR REPLACE FUNCTION queue_call_cost(call calls) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF call.carrier_call_id IS NOT NULL AND call.carrier NOT IN ('sandbox', 'softswitch') THEN
    INSERT INTO call_cost_looks (company_id, call_id, due_at)
      VALUES (call.company_id, call.id, call.ended_at + interval '1 minute')
      ON CONFLICT (company_id, call_id) DO NOTHING;
  END IF;
END $$;
