import type { Deps } from '../deps';
import type { JobContext } from '../jobs/queue';
import type { Tasks } from '../jobs/tasks';

type Context = Pick<Deps, 'tenants' | 'mailer' | 'config'>;

const NEWS: Record<Tasks['tell_of_webhook']['news'], { subject: string; text: string }> = {
  paused: {
    subject: 'is paused',
    text: 'Its receiver answered 410 Gone, which means that it wants no more. Nothing is sent until the webhook is unpaused; what waits is kept, and of what happens meanwhile it is not told.',
  },
  dead: {
    subject: 'has a dead delivery',
    text: 'It was tried as often as the webhook says, or cannot be sent at all. The logs of the webhook say why; POST /webhook_logs/:id/redeliver sends it once more. Further dead deliveries are not told of within the hour.',
  },
};

/** Tells whoever is to know that a webhook is in trouble. Throws to be run again; two runs send the same mail. */
export async function alertOwner(
  { company_id, outgoing_webhook_id, news }: Tasks['tell_of_webhook'],
  { job_id }: JobContext,
  context: Context,
): Promise<void> {
  const { tenants, mailer, config } = context;
  const [webhook] = await tenants
    .of(BigInt(company_id))
    .query<{ name: string; url: string; alert_email: string }>({
      text: 'SELECT name, url, alert_email FROM outgoing_webhooks WHERE company_id = $1 AND id = $2 AND alert_email IS NOT NULL AND deleted_at IS NULL',
      values: [company_id, outgoing_webhook_id],
    });
  if (!webhook) return;
  const { subject, text } = NEWS[news];
  const name = webhook.name.replace(/[\r\n\0]+/g, ' ');
  const sent = await mailer.send({
    key: job_id,
    from: config.mail_from,
    to: webhook.alert_email,
    subject: `Webhook "${name}" ${subject}`,
    text: `The webhook "${name}" (${outgoing_webhook_id}), which goes to ${webhook.url}, ${subject}.\n\n${text}\n`,
  });
  if (!sent.ok && sent.retryable) throw new Error(`the mail was not sent: ${sent.message}`);
}
