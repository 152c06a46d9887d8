import { formatInTimeZone } from 'date-fns-tz/formatInTimeZone';
import type { Deps } from '../deps';
import type { JobContext } from '../../data/jobs/queue';
import type { Tasks } from '../../data/jobs/tasks';
import { ianaName } from '../../platform/time/zone';
import { formatDuration } from './words';

type Context = Pick<Deps, 'tenants' | 'mailer' | 'config'>;

/**
 * Mails that an alert has started or ended. Throws when the mail should be retried: every run sends
 * the same mail under the same key.
 */
export async function mailAlert(
  { company_id, alert_id, to, news }: Tasks['mail_alert'],
  { job_id }: JobContext,
  { tenants, mailer, config }: Context,
): Promise<void> {
  const alert = await tenants.of(BigInt(company_id)).prisma.alert.findFirst({
    where: { id: BigInt(alert_id) },
    include: { alert_rule: { select: { name: true, time_zone: true } } },
  });
  if (!alert) return;
  const { message, subject, created_at, ended_at, alert_rule } = alert;
  const rule = alert_rule.name.replace(/[\r\n\0]+/g, ' ');
  const zone = ianaName(alert_rule.time_zone) ?? 'UTC';
  const at = (time: Date) => `${formatInTimeZone(time, zone, 'yyyy-MM-dd HH:mm')} ${zone}`;
  const path = subject === 'company' ? '' : `\n\nAbout: /api/v1/${subject}`;
  const since = `It began at ${at(created_at)}.`;
  const over = ended_at
    ? `It ended at ${at(ended_at)}, ` +
      `after ${formatDuration(ended_at.getTime() - created_at.getTime())}.`
    : '';
  const delivery = await mailer.send({
    key: job_id,
    from: config.mail_from,
    to,
    subject: news === 'started' ? rule : `${rule}: it is over`,
    text: `${message}.\n\n${since}${news === 'ended' ? ` ${over}` : ''}${path}\n`,
  });
  if (!delivery.ok && delivery.retryable)
    throw new Error(`the mail was not sent: ${delivery.code}`);
}
