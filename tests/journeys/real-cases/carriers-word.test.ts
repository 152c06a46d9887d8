import { carrierRequests } from '../../support/carrier-requests';

// The carrier's own word counts, whatever the body; a strange body is no reason to miss an opt-out.

const here = carrierRequests();
const { hook, text, optedOut, newLead, listMessages, loadLogs } = here;

const says = (From: string, Body: string, more: Record<string, string> = {}) =>
  hook('telephony/sms', text(Body, { From, ...more }));
const BODIES = ['', ' ', '\0', '\0\0STOP\0', '\u200b', 'YES', 'start', 'no more', 'HELP', '\ud83d'];

describe.each(BODIES)('OptOutType of a carrier, with the body %j,', (body) => {
  test.each(['STOP', 'stop', ' Stop '])('%j opts out', async (OptOutType) => {
    const { id, number } = await newLead();
    const { status, text: twiml } = await says(number, body, { OptOutType });
    expect([status, twiml.includes('<Message')]).toEqual([200, false]);
    expect(await optedOut(number)).toBe(true);
    expect(await loadLogs(id, 'opted_out')).toEqual([expect.stringMatching(/^answered: ./)]);
    expect(await listMessages(number)).toHaveLength(1);
  });

  test('START opts in', async () => {
    const { number } = await newLead();
    await says(number, 'STOP');
    expect((await says(number, body, { OptOutType: 'START' })).status).toBe(200);
    expect(await optedOut(number)).toBe(false);
  });

  test('HELP changes nothing', async () => {
    for (const before of ['STOP', 'hello']) {
      const { number } = await newLead();
      await says(number, before);
      const was = await optedOut(number);
      const { status, text: twiml } = await says(number, body, { OptOutType: 'HELP' });
      expect([status, twiml.includes('<Message')]).toEqual([200, false]);
      expect(await optedOut(number)).toBe(was);
    }
  });
});

test.each(['', ' ', 'MAYBE'])(
  'OptOutType %j decides nothing: the body does',
  async (OptOutType) => {
    const { number } = await newLead();
    await says(number, 'STOP', { OptOutType });
    expect(await optedOut(number)).toBe(true);
    await says(number, 'START', { OptOutType });
    expect(await optedOut(number)).toBe(false);
  },
);

test.each([
  '\0STOP',
  'STOP\0',
  'S\0T\0O\0P\0',
  'ＳＴＯＰ',
  'ｓｔｏｐ　ｎｏｗ',
  '\u202eSTOP',
  '\ufeffStop\ufffd',
])('an opt-out that is written %j is one', async (body) => {
  const { number } = await newLead();
  expect((await says(number, body)).status).toBe(200);
  expect(await optedOut(number)).toBe(true);
});
