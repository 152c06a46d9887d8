-- Changes of routing, and agents that go online or offline, are recorded by the statements that
-- write them.
DROP TRIGGER IF EXISTS routing_change ON buyers;
DROP TRIGGER IF EXISTS routing_change ON buyer_groups;
DROP TRIGGER IF EXISTS routing_change ON buyer_group_members;
DROP TRIGGER IF EXISTS routing_change ON buyer_business_hours;
DROP TRIGGER IF EXISTS routing_change ON buyer_conversions;
DROP TRIGGER IF EXISTS routing_change ON offer_buyers;
DROP TRIGGER IF EXISTS routing_change ON offer_buyer_groups;
DROP TRIGGER IF EXISTS routing_change ON numbers;
DROP TRIGGER IF EXISTS routing_change_on_insert ON outgoing_webhooks;
DROP TRIGGER IF EXISTS routing_change_on_update ON outgoing_webhooks;
DROP FUNCTION IF EXISTS record_routing_change();

DROP TRIGGER IF EXISTS webhook_event_on_insert ON agents;
DROP TRIGGER IF EXISTS webhook_event_on_update ON agents;
DROP FUNCTION IF EXISTS record_agent_event();
