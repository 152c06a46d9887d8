-- Whether a delivery has what its request needs: a body may have been too large to store, and what
-- was personal is erased.
CREATE OR REPLACE FUNCTION is_sendable(delivery webhook_deliveries) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT delivery.request_url <> ''
    AND (delivery.request_body IS NOT NULL OR delivery.request_method IN ('GET', 'DELETE'));
$$;

-- Deliveries of a webhook that are dead, or have failed and wait for their next attempt, of events
-- between two times.
CREATE OR REPLACE FUNCTION failed_deliveries(
  company bigint, webhook bigint, since timestamptz, until timestamptz
) RETURNS TABLE (id bigint) LANGUAGE sql STABLE AS $$
  SELECT d.id
  FROM webhook_deliveries d
  WHERE d.company_id = company AND d.outgoing_webhook_id = webhook
    AND (d.status = 'dead' OR d.due_at IS NOT NULL AND d.attempts > 0)
    AND d.created_at >= coalesce(since, '-infinity') AND d.created_at < coalesce(until, 'infinity')
    AND is_sendable(d);
$$;

-- Makes the oldest failed deliveries due, as if they had never been tried; `remaining` says how many
-- are left. They are not failed any more: of two requests at once, the second finds none.
--
-- Locks: the queue of the webhook, the deliveries.
CREATE OR REPLACE FUNCTION redeliver_failed(
  company bigint, webhook bigint, since timestamptz, until timestamptz, at_most bigint,
  at timestamptz
) RETURNS TABLE (redelivered bigint, remaining bigint) LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM webhook_queues q
    WHERE q.company_id = company AND q.outgoing_webhook_id = webhook
    FOR NO KEY UPDATE;
  UPDATE webhook_deliveries d
    SET status = 'waiting', attempts = 0, due_at = at
    WHERE d.company_id = company
      AND d.id IN (
        SELECT f.id
        FROM failed_deliveries(company, webhook, since, until) f
        ORDER BY f.id
        LIMIT at_most
      );
  GET DIAGNOSTICS redelivered = ROW_COUNT;
  remaining := 0;
  IF redelivered = at_most THEN
    SELECT count(*) INTO remaining FROM failed_deliveries(company, webhook, since, until);
  END IF;
  RETURN NEXT;
END $$;
