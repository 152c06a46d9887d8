-- What triggers recorded of calls, attempts and conversions is recorded by the statements that
-- write them (prisma/functions.sql).
LOCK TABLE calls, call_attempts, conversions IN ACCESS EXCLUSIVE MODE;

DROP TRIGGER IF EXISTS call_counts_on_insert ON calls;
DROP TRIGGER IF EXISTS call_counts_on_update ON calls;
DROP TRIGGER IF EXISTS call_counts_on_delete ON calls;
DROP TRIGGER IF EXISTS settled_call_on_insert ON calls;
DROP TRIGGER IF EXISTS settled_call_on_update ON calls;
DROP TRIGGER IF EXISTS settled_call_on_delete ON calls;
DROP TRIGGER IF EXISTS traffic_source_calls_on_insert ON calls;
DROP TRIGGER IF EXISTS traffic_source_calls_on_update ON calls;
DROP TRIGGER IF EXISTS traffic_source_calls_on_delete ON calls;
DROP TRIGGER IF EXISTS service_cost_on_insert ON calls;
DROP TRIGGER IF EXISTS service_cost_on_update ON calls;
DROP TRIGGER IF EXISTS call_cost_on_insert ON calls;
DROP TRIGGER IF EXISTS call_cost_on_update ON calls;
DROP TRIGGER IF EXISTS webhook_event_on_insert ON calls;
DROP TRIGGER IF EXISTS webhook_event_on_update ON calls;
DROP TRIGGER IF EXISTS schedule_event_on_call ON calls;
DROP TRIGGER IF EXISTS schedule_event_on_insert ON calls;
DROP TRIGGER IF EXISTS schedule_event_on_end ON calls;
DROP TRIGGER IF EXISTS schedule_event_on_conversion ON calls;
DROP TRIGGER IF EXISTS webhook_event_on_insert ON call_attempts;
DROP TRIGGER IF EXISTS webhook_event_on_answer ON call_attempts;
DROP TRIGGER IF EXISTS webhook_event_on_insert ON conversions;

DROP FUNCTION IF EXISTS count_call_kinds();
DROP FUNCTION IF EXISTS record_settled_call();
DROP FUNCTION IF EXISTS count_traffic_source_calls();
DROP FUNCTION IF EXISTS charge_service_cost();
DROP FUNCTION IF EXISTS queue_call_cost();
DROP FUNCTION IF EXISTS record_call_events();
DROP FUNCTION IF EXISTS record_attempt_event();
DROP FUNCTION IF EXISTS record_conversion_event();
DROP FUNCTION IF EXISTS record_call_of_lead();
DROP FUNCTION IF EXISTS record_end_of_call();
DROP FUNCTION IF EXISTS record_converted_call();
