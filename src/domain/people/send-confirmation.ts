import type { Deps } from '../deps';
import { CONFIRMATION_DAYS, confirmationToken } from '../../api/auth/confirmations';
import type { Tasks } from '../../data/jobs/tasks';
import { deliverMail } from './deliver-mail';

type Context = Pick<Deps, 'tenants' | 'mailer' | 'config' | 'pepper' | 'log'>;

/**
 * Mails the link with which an address is confirmed. Throws when the mail should be retried: every
 * run sends the same mail under the same key.
 */
export async function sendConfirmation(
  { company_id, id, number }: Tasks['send_confirmation'],
  deps: Context,
): Promise<void> {
  const { tenants, config, pepper } = deps;
  const address = await tenants.of(BigInt(company_id)).prisma.mailAddress.findFirst({
    where: { id: BigInt(id), confirmation_number: number, confirmed_at: null },
    select: { email: true, company: { select: { name: true } } },
  });
  if (!address) return;
  const companyName = address.company.name;
  const token = confirmationToken(
    { company_id: BigInt(company_id), id: BigInt(id), number },
    pepper,
  );
  const lines = [
    `${companyName} wants to mail alerts to this address.`,
    '',
    'To get them, open this page and confirm the address: ' +
      `${config.public_url}/confirmations?confirmation_token=${token}`,
    '',
    `The link works once, within ${CONFIRMATION_DAYS} days. If you do nothing, you get no alerts.`,
  ];
  await deliverMail(
    deps,
    {
      key: `confirmation-${company_id}-${id}-${number}`,
      to: address.email,
      subject: `Alerts of ${companyName}: confirm your address`,
      lines,
    },
    { kind: 'confirmation', company_id, id },
  );
}
