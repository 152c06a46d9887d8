CREATE INDEX calls_reported_idx ON calls (company_id, created_at, id) INCLUDE (
  offer_id, buyer_id, traffic_source_id, schedule_id, direction, from_number, to_number, sub_id,
  caller_state, connected_at, ended_at, total_duration, buyer_converted, traffic_source_converted,
  revenue, payout
) WHERE deleted_at IS NULL;
