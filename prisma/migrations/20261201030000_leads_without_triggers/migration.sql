-- What the triggers of leads, contacts and their restrictions did is done by the statements that
-- write them (prisma/functions.sql, src/leads/queries/record-leads.ts).
DROP TRIGGER IF EXISTS next_actions_on_insert ON leads;
DROP TRIGGER IF EXISTS next_actions_on_update ON leads;
DROP TRIGGER IF EXISTS next_actions_on_delete ON leads;
DROP TRIGGER IF EXISTS webhook_event_on_insert ON leads;
DROP TRIGGER IF EXISTS webhook_event_on_update ON leads;
DROP TRIGGER IF EXISTS schedule_event_on_insert ON leads;
DROP TRIGGER IF EXISTS exit_on_conversion ON leads;
DROP TRIGGER IF EXISTS exit_on_connection ON leads;
DROP TRIGGER IF EXISTS exit_on_inbound_call ON leads;
DROP TRIGGER IF EXISTS exit_on_opt_out ON leads;
DROP TRIGGER IF EXISTS exit_on_reply ON leads;
DROP TRIGGER IF EXISTS webhook_event_on_opt_out ON contacts;
DROP TRIGGER IF EXISTS webhook_event_on_opt_out ON contact_restrictions;

DROP FUNCTION IF EXISTS count_new_next_actions();
DROP FUNCTION IF EXISTS count_next_action();
DROP FUNCTION IF EXISTS record_lead_events();
DROP FUNCTION IF EXISTS record_new_lead();
DROP FUNCTION IF EXISTS exit_schedule();
DROP FUNCTION IF EXISTS record_opt_out_event();
DROP FUNCTION IF EXISTS record_restricted_opt_out_event();
DROP FUNCTION IF EXISTS record_opt_out_of(bigint, bigint, bigint, bigint);
