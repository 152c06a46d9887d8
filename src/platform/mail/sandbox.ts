import { validateMail, type Mailer, type MailFailure } from './mailer';

/** Results of the sandbox for special addresses, by their part before the @. All others arrive. */
export const MAGIC_MAILBOXES: Record<string, { meaning: string; failure: MailFailure }> = {
  bounce: {
    meaning: 'There is no such mailbox: refused.',
    failure: {
      ok: false,
      retryable: false,
      code: 'rejected',
      message: 'The sandbox has no mailbox bounce.',
    },
  },
  unavailable: {
    meaning: 'The mail server is down: nothing is sent, and the e-mail is retried.',
    failure: {
      ok: false,
      retryable: true,
      code: 'unavailable',
      message: 'The sandbox is down for the mailbox unavailable.',
    },
  },
};

/** A mailer that sends and stores nothing: its response depends on the e-mail alone. */
export function sandboxMailer(): Mailer {
  return {
    name: 'sandbox',
    instant: true,
    send: async (mail) => {
      const local = mail.to.split('@')[0]!.toLowerCase();
      const magic = Object.hasOwn(MAGIC_MAILBOXES, local)
        ? MAGIC_MAILBOXES[local]!.failure
        : undefined;
      return validateMail(mail) ?? magic ?? { ok: true, message_id: `<${mail.key}@sandbox>` };
    },
    close: () => undefined,
  };
}
