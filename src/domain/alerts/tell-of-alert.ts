import type { Deps } from '../deps';
import type { Tasks } from '../../data/jobs/tasks';
import { findConfirmed } from '../people/confirm-addresses';
import { reserveMails } from '../people/take-mails';
import { CLAIM_NEWS, RECORD_UNSENT } from './queries/alerts';

type Context = Pick<Deps, 'tenants' | 'queue' | 'config' | 'clock'>;

/**
 * Queues the mails about an alert that has started or ended, one job for each confirmed address, so
 * that an address whose server is down delays no other. The mails are queued and counted once,
 * however often it runs. Mails that the quotas refuse are noted on the rule.
 */
export async function enqueueAlertMails(
  { company_id, alert_id, news }: Tasks['tell_of_alert'],
  { tenants, queue, config, clock }: Context,
): Promise<void> {
  await tenants.of(BigInt(company_id)).statements(async (tx) => {
    const now = clock();
    const [alert] = await tx.sql(CLAIM_NEWS, { id: alert_id, news });
    if (!alert) return;
    const emails = await findConfirmed(tx, alert.emails);
    const { granted, refused } = await reserveMails(tx, emails, { config, now });
    const mails = granted.map((to) => ({ company_id, alert_id, to, news }));
    await queue.addAll(tx, 'mail_alert', mails);
    const [first] = refused;
    if (!first) return;
    const unsent = { rule_id: alert.rule_id, count: refused.length, reason: first.reason, now };
    await tx.sql(RECORD_UNSENT, unsent);
  });
}
