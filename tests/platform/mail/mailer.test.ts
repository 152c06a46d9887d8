import type { MailerName } from '../../../src/platform/mail/mailer';
import { MAGIC_MAILBOXES } from '../../../src/platform/mail/sandbox';
import { ADDRESS_LISTS, mail, smtpServers } from '../../support/smtp-servers';

const { delivered, open } = smtpServers();

describe.each<MailerName>(['sandbox', 'smtp'])('%s', (name) => {
  test('says who it is, and takes a mail', async () => {
    const message = mail();
    const mailer = open(name);
    expect(mailer).toMatchObject({ name, instant: name === 'sandbox' });
    const outcome = await mailer.send(message);
    expect(outcome).toEqual({
      ok: true,
      message_id: `<${message.key}@${name === 'smtp' ? 'acme.example' : 'sandbox'}>`,
    });
    expect(await mailer.send(message)).toEqual(outcome);
    expect(delivered.map(({ to }) => to)).toEqual(
      name === 'smtp' ? [['ann@example.com'], ['ann@example.com']] : [],
    );
  });

  test.each(Object.entries(MAGIC_MAILBOXES))(
    '%s@ is refused as said',
    async (local, { failure }) => {
      const { retryable, code } = failure;
      expect(await open(name).send(mail({ to: `${local}@example.com` }))).toMatchObject({
        ok: false,
        retryable,
        code,
        message: expect.any(String),
      });
      expect(delivered).toEqual([]);
    },
  );

  test.each([...ADDRESS_LISTS, 'Ann <ann@example.com>'])(
    'to %j is refused, and nothing is delivered',
    async (to) => {
      expect(await open(name).send(mail({ to }))).toMatchObject({
        ok: false,
        retryable: false,
        code: 'invalid_to',
      });
      expect(delivered).toEqual([]);
    },
  );

  test.each([
    ...ADDRESS_LISTS,
    'Ann\r\nBcc: eve@example.net <ann@example.com>',
    'eve@example.net <ann@example.com>',
    'Ann, Eve <ann@example.com>',
  ])('from %j is refused', async (from) => {
    expect(await open(name).send(mail({ from }))).toMatchObject({
      ok: false,
      retryable: false,
      code: 'invalid_from',
    });
    expect(delivered).toEqual([]);
  });

  test.each(['A\r\nBcc: eve@example.net', 'A\nB', 'A\rB', 'A\0B'])(
    'the subject %j is refused',
    async (subject) => {
      expect(await open(name).send(mail({ subject }))).toMatchObject({
        ok: false,
        retryable: false,
        code: 'invalid_subject',
      });
      expect(delivered).toEqual([]);
    },
  );

  test.each(['', 'a\r\nBcc: eve@example.net', 'a>b'])('the key %j is refused', async (key) => {
    expect(await open(name).send(mail({ key }))).toMatchObject({
      ok: false,
      retryable: false,
      code: 'invalid_key',
    });
  });
});
