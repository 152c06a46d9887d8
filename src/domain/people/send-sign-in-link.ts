import type { Deps } from '../deps';
import type { Tasks } from '../../data/jobs/tasks';
import { buildSignInLink } from './console-links';
import { deliverMail } from './deliver-mail';
import { buildSignInToken, LINK_MINUTES } from './sign-in/mailed-links';

type Context = Pick<Deps, 'tenants' | 'mailer' | 'config' | 'pepper' | 'log' | 'clock'>;

/** Mails a link to sign in, unless it was replaced or is too old. */
export async function sendSignInLink(
  { company_id, user_id, number }: Tasks['send_sign_in_link'],
  deps: Context,
): Promise<void> {
  const { tenants, config, pepper, clock } = deps;
  const oldest = new Date(clock().getTime() - LINK_MINUTES * 60_000);
  const login = await tenants.of(BigInt(company_id)).prisma.userLogin.findFirst({
    where: {
      user_id: BigInt(user_id),
      link_number: number,
      link_open: true,
      link_sent_at: { gt: oldest },
      user: { deleted_at: null },
    },
    select: { user: { select: { email: true, company: { select: { name: true } } } } },
  });
  if (!login) return;
  const { email, company } = login.user;
  const person = { company_id: BigInt(company_id), user_id: BigInt(user_id) };
  const link = buildSignInLink(config, buildSignInToken(person, number, pepper));
  const lines = [
    `Open this page to sign in to ${company.name}: ${link}`,
    '',
    `It works once, within ${LINK_MINUTES} minutes. If you have not asked for it, do nothing: ` +
      'it reaches only you.',
  ];
  await deliverMail(
    deps,
    {
      key: `sign-in-${company_id}-${user_id}-${number}`,
      to: email,
      subject: `Sign in to ${company.name}`,
      lines,
    },
    { kind: 'sign-in link', company_id, id: user_id },
  );
}
