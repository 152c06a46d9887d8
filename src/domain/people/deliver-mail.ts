import type { Mail } from '../../platform/mail/mailer';
import type { Deps } from '../deps';

/**
 * Sends a mail with a link. Throws when it should be retried: every run sends the same mail under
 * the same key. One that the server rejects is logged, without its address.
 */
export async function deliverMail(
  { mailer, config, log }: Pick<Deps, 'mailer' | 'config' | 'log'>,
  { lines, ...mail }: Pick<Mail, 'key' | 'to' | 'subject'> & { lines: readonly string[] },
  about: { kind: string; company_id: string; id: string },
): Promise<void> {
  const delivery = await mailer.send({
    ...mail,
    subject: mail.subject.replace(/[\r\n\0]+/g, ' '),
    from: config.mail_from,
    text: lines.join('\n'),
  });
  if (delivery.ok) return;
  if (delivery.retryable)
    throw new Error(`the mail server did not accept a mail (${about.kind}): ${delivery.code}`);
  log.warn({ code: delivery.code, ...about }, 'the mail server rejected a mail');
}
