// Layouts of one area are one script.
export { inboundWebhooks } from './inbound-webhooks';
export { outgoingWebhooks } from './outgoing-webhooks';
export { webhookLogs } from './webhook-logs';
