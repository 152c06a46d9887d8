import type { Statements } from '../../data/db';
import type { Deps } from '../deps';
import type { JobContext } from '../../data/jobs/queue';
import type { Tasks } from '../../data/jobs/tasks';
import { reserveMails } from '../people/take-mails';
import { CLAIM_ALERT } from './queries/results';
import { FIND_WEBHOOK_TO_ALERT } from './queries/webhooks';

type Context = Pick<Deps, 'tenants' | 'mailer' | 'config'>;

const MESSAGES: Record<Tasks['tell_of_webhook']['news'], { subject: string; text: string }> = {
  paused: {
    subject: 'is paused',
    text:
      'Its receiver answered 410 Gone, which means that it wants no more events. Nothing is sent ' +
      'until you unpause the webhook. Deliveries that wait are kept, but events that happen in ' +
      'the meantime are not delivered.',
  },
  dead: {
    subject: 'has a dead delivery',
    text:
      'All attempts that the webhook allows have failed, or the request could not be sent. The ' +
      'logs of the webhook have the reason; POST /webhook_logs/:id/redeliver sends it again. You ' +
      'get at most one of these messages an hour.',
  },
};

/**
 * Mails the alert address of a webhook that it is paused or has a dead delivery. Throws when the
 * mail should be retried later: every run sends the mail under the same key.
 */
export async function alertOwner(
  { company_id, outgoing_webhook_id, news }: Tasks['tell_of_webhook'],
  { job_id }: JobContext,
  { tenants, mailer, config }: Context,
): Promise<void> {
  const db = tenants.of(BigInt(company_id));
  const [webhook] = await db.sql(FIND_WEBHOOK_TO_ALERT, { id: outgoing_webhook_id });
  if (!webhook) return;
  const { subject, text } = MESSAGES[news];
  const name = webhook.name.replace(/[\r\n\0]+/g, ' ');
  const first = `The webhook "${name}" (${outgoing_webhook_id}) to ${webhook.url} ${subject}.`;
  const outcome = await mailer.send({
    key: job_id,
    from: config.mail_from,
    to: webhook.alert_email,
    subject: `Webhook "${name}" ${subject}`,
    text: `${first}\n\n${text}\n`,
  });
  if (!outcome.ok && outcome.retryable) throw new Error(`the mail was not sent: ${outcome.code}`);
}

type AlertContext = Pick<Deps, 'queue' | 'config' | 'clock' | 'log'>;

/**
 * Queues the mail about a paused webhook to its alert address, if that is confirmed. A mail over a
 * quota is only logged: the webhook itself shows that it is paused.
 */
export async function queueAlert(
  db: Pick<Statements, 'sql' | 'query' | 'company_id'>,
  { outgoing_webhook_id, news }: Pick<Tasks['tell_of_webhook'], 'outgoing_webhook_id' | 'news'>,
  { queue, config, clock, log }: AlertContext,
): Promise<void> {
  const [webhook] = await db.sql(FIND_WEBHOOK_TO_ALERT, { id: outgoing_webhook_id });
  if (!webhook) return;
  const { refused } = await reserveMails(db, [webhook.alert_email], { config, now: clock() });
  const companyId = String(db.company_id);
  if (refused.length > 0)
    log.warn(
      { company_id: companyId, outgoing_webhook_id },
      'a mail about a webhook is over a quota',
    );
  else await queue.add(db, 'tell_of_webhook', { company_id: companyId, outgoing_webhook_id, news });
}

/** Queues the mail about a dead delivery: at most once an hour for each webhook. */
export async function queueDeadAlert(
  db: Pick<Statements, 'sql' | 'query' | 'company_id'>,
  outgoingWebhookId: string,
  context: AlertContext,
): Promise<void> {
  const now = context.clock().toISOString();
  if ((await db.sql(CLAIM_ALERT, { outgoing_webhook_id: outgoingWebhookId, now })).length === 0)
    return;
  await queueAlert(db, { outgoing_webhook_id: outgoingWebhookId, news: 'dead' }, context);
}
