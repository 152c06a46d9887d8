import { isMailAddress, parseMailbox } from '../../../src/platform/mail/address';
import { ADDRESS_LISTS } from '../../support/smtp-servers';
import { cpuMs } from '../../support/patience';

describe('addresses', () => {
  test.each([
    'ann@example.com',
    'a.b+c@sub.example.co.uk',
    'zoë@example.com',
    "o'hara@example.com",
  ])('%s is one', (address) => {
    expect([isMailAddress(address), parseMailbox(address)]).toEqual([true, { address }]);
  });

  test.each([
    ['Ann <ann@example.com>', { name: 'Ann', address: 'ann@example.com' }],
    ['Ann O’Hara   <ann@example.com>', { name: 'Ann O’Hara', address: 'ann@example.com' }],
    ['"Acme, Inc. (leads)" <a@b.example>', { name: 'Acme, Inc. (leads)', address: 'a@b.example' }],
    ['<ann@example.com>', { address: 'ann@example.com' }],
    ['"" <ann@example.com>', { address: 'ann@example.com' }],
  ])('%s is %j', (text, mailbox) => {
    expect(parseMailbox(text)).toEqual(mailbox);
  });

  test.each(ADDRESS_LISTS)('%j is none', (text) => {
    expect([isMailAddress(text), parseMailbox(text)]).toEqual([false, undefined]);
  });

  test('a long text is read in no time', () => {
    const texts = [
      'a'.repeat(100_000),
      `${' '.repeat(5_000)}<`,
      `"${' '.repeat(5_000)}`,
      `a@${'a.'.repeat(5_000)}`,
    ];
    const parseAll = () => {
      for (const text of texts) expect(parseMailbox(text)).toBeUndefined();
    };
    expect(cpuMs(parseAll)).toBeLessThan(2_000);
  });
});
