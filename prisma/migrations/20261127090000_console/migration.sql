-- Lists of calls are filtered by these. Without an index, a page of a rare reason, or of an agent
-- with few calls, reads every call.
CREATE INDEX calls_company_id_unbilled_reason_id_idx
  ON calls (company_id, unbilled_reason, id)
  WHERE deleted_at IS NULL AND unbilled_reason IS NOT NULL;
CREATE INDEX calls_unconnected_idx ON calls (company_id, id)
  WHERE deleted_at IS NULL AND unbilled_reason IS NULL AND ended_at IS NOT NULL
    AND connected_at IS NULL AND NOT buyer_converted AND (direction = 'inbound' OR routed);
CREATE INDEX calls_company_id_agent_id_id_idx
  ON calls (company_id, agent_id, id) WHERE deleted_at IS NULL AND agent_id IS NOT NULL;
CREATE INDEX calls_company_id_disposition_id_id_idx
  ON calls (company_id, disposition_id, id)
  WHERE deleted_at IS NULL AND disposition_id IS NOT NULL;

-- Failed events are delivered again without a look at those that have arrived.
CREATE INDEX webhook_deliveries_dead_idx
  ON webhook_deliveries (company_id, outgoing_webhook_id, id) WHERE status = 'dead';
