-- Records that act later keep who made them, if that was a limited user; limits that were lowered
-- keep what had been set before.

ALTER TABLE outgoing_webhooks
  ADD COLUMN maker_user_id bigint,
  ADD COLUMN maker_team_ids bigint[] DEFAULT ARRAY[]::bigint[];
ALTER TABLE outgoing_webhooks ADD CONSTRAINT outgoing_webhooks_company_id_maker_user_id_fkey
  FOREIGN KEY (company_id, maker_user_id) REFERENCES users (company_id, id);
ALTER TABLE inbound_webhooks
  ADD COLUMN maker_user_id bigint,
  ADD COLUMN maker_team_ids bigint[] DEFAULT ARRAY[]::bigint[];
ALTER TABLE inbound_webhooks ADD CONSTRAINT inbound_webhooks_company_id_maker_user_id_fkey
  FOREIGN KEY (company_id, maker_user_id) REFERENCES users (company_id, id);
ALTER TABLE schedule_actions
  ADD COLUMN maker_user_id bigint,
  ADD COLUMN maker_team_ids bigint[] DEFAULT ARRAY[]::bigint[];
ALTER TABLE schedule_actions ADD CONSTRAINT schedule_actions_company_id_maker_user_id_fkey
  FOREIGN KEY (company_id, maker_user_id) REFERENCES users (company_id, id);
ALTER TABLE outgoing_webhooks ADD CONSTRAINT outgoing_webhooks_maker_check
  CHECK (maker_user_id IS NOT NULL OR cardinality(maker_team_ids) = 0);
ALTER TABLE inbound_webhooks ADD CONSTRAINT inbound_webhooks_maker_check
  CHECK (maker_user_id IS NOT NULL OR cardinality(maker_team_ids) = 0);
ALTER TABLE schedule_actions ADD CONSTRAINT schedule_actions_maker_check
  CHECK (maker_user_id IS NOT NULL OR cardinality(maker_team_ids) = 0);

ALTER TABLE call_limits ADD COLUMN network_limits jsonb NOT NULL DEFAULT '{}';
-- A limit that was lowered by somebody who may not raise it stays within what had been set before.
ALTER TABLE call_limits ADD CONSTRAINT call_limits_network_check
  CHECK (
    network_limits = '{}'
    OR coalesce(concurrency_cap_limit::numeric, 'Infinity')
      <= coalesce((network_limits->>'concurrency_cap_limit')::numeric, 'Infinity')
    AND coalesce(attempt_total_limit::numeric, 'Infinity')
      <= coalesce((network_limits->>'attempt_total_limit')::numeric, 'Infinity')
    AND coalesce(attempt_monthly_limit::numeric, 'Infinity')
      <= coalesce((network_limits->>'attempt_monthly_limit')::numeric, 'Infinity')
    AND coalesce(attempt_daily_limit::numeric, 'Infinity')
      <= coalesce((network_limits->>'attempt_daily_limit')::numeric, 'Infinity')
    AND coalesce(attempt_hourly_limit::numeric, 'Infinity')
      <= coalesce((network_limits->>'attempt_hourly_limit')::numeric, 'Infinity')
    AND coalesce(connection_total_limit::numeric, 'Infinity')
      <= coalesce((network_limits->>'connection_total_limit')::numeric, 'Infinity')
    AND coalesce(connection_monthly_limit::numeric, 'Infinity')
      <= coalesce((network_limits->>'connection_monthly_limit')::numeric, 'Infinity')
    AND coalesce(connection_daily_limit::numeric, 'Infinity')
      <= coalesce((network_limits->>'connection_daily_limit')::numeric, 'Infinity')
    AND coalesce(connection_hourly_limit::numeric, 'Infinity')
      <= coalesce((network_limits->>'connection_hourly_limit')::numeric, 'Infinity')
    AND coalesce(buyer_conversion_total_limit::numeric, 'Infinity')
      <= coalesce((network_limits->>'buyer_conversion_total_limit')::numeric, 'Infinity')
    AND coalesce(buyer_conversion_monthly_limit::numeric, 'Infinity')
      <= coalesce((network_limits->>'buyer_conversion_monthly_limit')::numeric, 'Infinity')
    AND coalesce(buyer_conversion_daily_limit::numeric, 'Infinity')
      <= coalesce((network_limits->>'buyer_conversion_daily_limit')::numeric, 'Infinity')
    AND coalesce(buyer_conversion_hourly_limit::numeric, 'Infinity')
      <= coalesce((network_limits->>'buyer_conversion_hourly_limit')::numeric, 'Infinity')
    AND coalesce(revenue_total_limit::numeric, 'Infinity')
      <= coalesce((network_limits->>'revenue_total_limit')::numeric, 'Infinity')
    AND coalesce(revenue_monthly_limit::numeric, 'Infinity')
      <= coalesce((network_limits->>'revenue_monthly_limit')::numeric, 'Infinity')
    AND coalesce(revenue_daily_limit::numeric, 'Infinity')
      <= coalesce((network_limits->>'revenue_daily_limit')::numeric, 'Infinity')
    AND coalesce(revenue_hourly_limit::numeric, 'Infinity')
      <= coalesce((network_limits->>'revenue_hourly_limit')::numeric, 'Infinity')
    AND coalesce(earned_revenue_total_limit::numeric, 'Infinity')
      <= coalesce((network_limits->>'earned_revenue_total_limit')::numeric, 'Infinity')
    AND coalesce(earned_revenue_monthly_limit::numeric, 'Infinity')
      <= coalesce((network_limits->>'earned_revenue_monthly_limit')::numeric, 'Infinity')
    AND coalesce(earned_revenue_daily_limit::numeric, 'Infinity')
      <= coalesce((network_limits->>'earned_revenue_daily_limit')::numeric, 'Infinity')
    AND coalesce(earned_revenue_hourly_limit::numeric, 'Infinity')
      <= coalesce((network_limits->>'earned_revenue_hourly_limit')::numeric, 'Infinity')
  );
