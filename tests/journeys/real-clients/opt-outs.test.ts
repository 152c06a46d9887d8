import { carrierRequests } from '../../support/carrier-requests';
import { openShop } from '../../support/leads';

const here = carrierRequests();
const { hook, text, listMessages, optedOut, newLead } = here;

const { api } = here.world;
let numbers = 0;
const newNumber = () => `+1310779${String(1000 + numbers++)}`;

/** The contact of an opt-out, as the API shows it. */
const loadContact = async (number: string) =>
  (await api('get', 'contacts', { query: { caller_id: number } })).body.contacts[0];
const submit = async (leadToken: string, callerId: string) =>
  (await api('post', 'leads', { auth: null, body: { lead_token: leadToken, caller_id: callerId } }))
    .body;

describe.each(['get', 'put', 'post'] as const)(
  '%s caller_opt_out of a number without a lead',
  (method) => {
    const optOut = (leadToken: string, number: string, auth: string | null) =>
      api(method, `leads/${number}/caller_opt_out`, { auth, query: { lead_token: leadToken } });

    test('answers 200 with a lead that is not stored, opted out', async () => {
      const number = newNumber();
      const { status, body } = await optOut(here.shop.schedule.lead_token, number, null);
      expect([status, body.lead]).toMatchObject([
        200,
        { id: null, caller_id: number, status: 'opt_out', opt_out: true, is_live: false },
      ]);
      expect((await api('get', 'leads', { query: { number } })).body.leads).toEqual([]);
    });

    test('with a lead token alone holds where the token is, also for a lead that comes later', async () => {
      const [number, otherShop] = [newNumber(), await openShop(here.world, [])];
      await optOut(here.shop.schedule.lead_token, number, null);
      expect((await loadContact(number)).opt_out).toBe(false);
      expect((await submit(here.shop.schedule.lead_token, number)).lead).toMatchObject({
        status: 'opt_out',
        opt_out: true,
      });
      expect((await submit(otherShop.schedule.lead_token, number)).lead.status).toBe('scheduled');
    });

    if (method !== 'get')
      test('takes the lead token as a field of the body', async () => {
        const { lead_token } = here.shop.schedule;
        for (const request of [{ body: { lead_token } }, { form: { lead_token } }]) {
          const number = newNumber();
          const res = await api(method, `leads/${number}/caller_opt_out`, {
            auth: null,
            ...request,
          });
          expect([res.status, res.body.errors]).toEqual([200, {}]);
          expect((await submit(lead_token, number)).lead.status).toBe('opt_out');
        }
      });

    test('with credentials holds for the whole company', async () => {
      const [number, otherShop] = [newNumber(), await openShop(here.world, [])];
      const { auth } = here.world.company;
      expect((await optOut(here.shop.schedule.lead_token, number, auth)).status).toBe(200);
      expect((await loadContact(number)).opt_out).toBe(true);
      expect((await submit(otherShop.schedule.lead_token, number)).lead.status).toBe('opt_out');
    });

    test('is in the change log, with the lead token that asked for it', async () => {
      await optOut(here.shop.schedule.lead_token, newNumber(), null);
      const query = { per_page: 1000 };
      const entry = (await api('get', 'change_logs', { query })).body.change_logs.at(-1);
      expect([entry.operation, entry.credentials, entry.record_id]).toEqual([
        expect.stringMatching(/^optOutLead/),
        `Lead token of schedule ${here.shop.schedule.id}`,
        null,
      ]);
    });

    test('without a token, or for what cannot be a number, records nothing', async () => {
      expect((await optOut('', newNumber(), null)).status).toBe(401);
      expect((await optOut(here.shop.schedule.lead_token, '12', null)).status).toBe(422);
    });
  },
);

describe('a text', () => {
  const says = (From: string, Body: string, more: Record<string, string> = {}) =>
    hook('telephony/sms', text(Body, { From, ...more }));
  const answers = async (number: string) =>
    (await listMessages(number)).filter(({ direction }) => direction === 'outbound');

  test.each([
    ...['STOP', 'STOPALL', 'UNSUBSCRIBE', 'CANCEL', 'END', 'QUIT', 'REVOKE', 'OPTOUT', 'OPT OUT'],
    ...['ARRET', 'arrêt', 'PARAR', 'Stop!', 'stop.', '"stop" please', '  Opt-out', 'opt  out now'],
    ...['ＳＴＯＰ', '𝐒𝐓𝐎𝐏', '🛑 Stop', 'END CALL'],
  ])('of %j opts a number without a lead out, for the whole company', async (body) => {
    const number = newNumber();
    expect((await says(number, body)).status).toBe(200);
    expect(await optedOut(number)).toBe(true);
    expect((await submit(here.shop.schedule.lead_token, number)).lead.status).toBe('opt_out');
  });

  test.each(['stopwatch', 'Please stop', 'ending', 'opt outside', 'opt', 'cancellation', 'quite'])(
    'of %j opts nobody out, and is not answered',
    async (body) => {
      const number = newNumber();
      const { text: twiml } = await says(number, body);
      expect([await optedOut(number), twiml.includes('<Message')]).toEqual([undefined, false]);
    },
  );

  test.each(['START', 'Unstop!', 'yes', ' Yes. '])('of %j comes back', async (body) => {
    const { number } = await newLead();
    await says(number, 'STOP');
    const { text: twiml } = await says(number, body);
    expect([await optedOut(number), twiml]).toEqual([
      false,
      expect.stringContaining('you get messages again'),
    ]);
  });

  test('of YES from somebody who has not opted out is a text like any other', async () => {
    const { number } = await newLead();
    const { text: twiml } = await says(number, 'YES');
    expect([twiml.includes('<Message'), (await answers(number)).length]).toEqual([false, 0]);
  });

  test('of STOP is confirmed once, with where to come back; a second one is not answered', async () => {
    const { number } = await newLead();
    const { text: twiml } = await says(number, 'STOP');
    expect(twiml).toContain('Test Company: you are unsubscribed');
    expect(twiml).toContain('telephony/message_status?key=');
    expect((await says(number, 'STOP')).text).not.toContain('<Message');
    expect((await answers(number)).length).toBe(1);
  });

  test('that is delivered again gets the same answer, which is stored once', async () => {
    const stop = text('STOP', { From: newNumber() });
    const first = await hook('telephony/sms', stop);
    const repeated = await Promise.all([1, 2, 3].map(() => hook('telephony/sms', stop)));
    expect(repeated.map((res) => res.text)).toEqual(repeated.map(() => first.text));
    expect((await answers(stop.From!)).length).toBe(1);
  });

  test('that is delivered five times at once is confirmed by one message', async () => {
    const stop = text('STOP', { From: newNumber() });
    const all = await Promise.all(Array.from({ length: 5 }, () => hook('telephony/sms', stop)));
    expect(new Set(all.map((res) => res.text)).size).toBe(1);
    expect((await answers(stop.From!)).length).toBe(1);
  });

  test('that the carrier has answered itself is not answered again', async () => {
    const number = newNumber();
    const { text: twiml } = await says(number, 'STOP', { OptOutType: 'STOP' });
    expect([await optedOut(number), twiml.includes('<Message')]).toEqual([true, false]);
  });

  test('the answer has the status that the carrier reports', async () => {
    const number = newNumber();
    const { text: twiml } = await says(number, 'HELP');
    const [, key] = /key=([0-9a-f-]{36})/.exec(twiml)!;
    const report = { MessageSid: `SM${'9'.repeat(32)}`, MessageStatus: 'delivered' };
    await hook(`telephony/message_status?key=${key}`, { ...report, From: '+12125550100' });
    expect(await answers(number)).toMatchObject([
      { status: 'delivered', carrier_message_id: report.MessageSid, to_number: number.slice(1) },
    ]);
  });

  describe('of HELP or INFO', () => {
    const settings = (body: object) => api('put', 'company', { body });
    afterEach(() =>
      settings({ help_text: null, opt_out_text: null, opt_in_text: null, keyword_replies: true }),
    );

    test.each(['HELP', 'info?'])('%j says who writes and how to end it', async (body) => {
      const { text: twiml } = await says(newNumber(), body);
      expect(twiml).toContain('Test Company: to get no more messages, reply STOP.');
    });

    test('is answered with the text of the company, also after an opt-out', async () => {
      const number = newNumber();
      await settings({ help_text: 'Call <us> & ask', opt_out_text: 'Bye', opt_in_text: 'Hi' });
      const all = [];
      for (const body of ['STOP', 'HELP', 'START']) all.push((await says(number, body)).text);
      expect(all).toEqual([
        expect.stringContaining('>Bye<'),
        expect.stringContaining('>Call &#60;us&#62; &#38; ask<'),
        expect.stringContaining('>Hi<'),
      ]);
    });

    test('is left to the carrier where the company says so', async () => {
      await settings({ keyword_replies: false });
      const number = newNumber();
      expect((await says(number, 'HELP')).text).not.toContain('<Message');
      expect((await says(number, 'STOP')).text).not.toContain('<Message');
      expect(await optedOut(number)).toBe(true);
    });

    test('is not answered to a number where the company contacts nobody', async () => {
      expect((await says('+8821612345678', 'HELP')).text).not.toContain('<Message');
    });
  });
});
