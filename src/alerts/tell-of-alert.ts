import type { Deps } from '../deps';
import type { Tasks } from '../jobs/tasks';
import { CLAIM_NEWS } from './queries/alerts';

type Context = Pick<Deps, 'tenants' | 'queue'>;

/**
 * Queues the mails about an alert that has begun or ended, one job for each address: an address
 * whose server is down holds up no other. However often it runs, the mails are queued once.
 */
export async function tellOfAlert(
  { company_id, alert_id, news }: Tasks['tell_of_alert'],
  { tenants, queue }: Context,
): Promise<void> {
  await tenants.of(BigInt(company_id)).statements(async (tx) => {
    const [alert] = await tx.sql(CLAIM_NEWS, { id: alert_id, news });
    if (!alert) return;
    const mails = alert.emails.map((to) => ({ company_id, alert_id, to, news }));
    await queue.addAll(tx, 'mail_alert', mails);
  });
}
