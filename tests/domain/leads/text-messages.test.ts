import { createWorld } from '../../support/world';
import { EMAIL, newNumber, useContacts } from '../../support/contacts';
import { DIAL, type Shop, openShop, ownNumber, runEngine, sms, wait } from '../../support/leads';

const here = useContacts();
const { api, lead, listBodies, loadContact, records, says, submitLead, time, world } = here;

describe('text messages', () => {
  let shop: Shop;
  const numbers: string[] = [];
  const leads: { id: number; uuid: string }[] = [];
  beforeAll(async () => {
    shop = await openShop(world, [sms('Hi [first_name]{you}')]);
    for (const ending of ['0123', '0107']) {
      numbers.push(`+1213555${ending}`);
      leads.push(
        await submitLead(shop.schedule.lead_token, numbers.at(-1)!, { first_name: 'Ann' }),
      );
    }
    await runEngine(world);
    await says(numbers[0]!, 'Yes');
  });

  test('are found by lead, direction, status and number', async () => {
    const listed = async (query: object) =>
      (await records('text_messages', query)).map(
        ({ body, to_number }: { body: string; to_number: string }) => `${body} ${to_number}`,
      );
    const [sentText, lost, answer] = [
      `Hi Ann ${numbers[0]}`,
      `Hi Ann ${numbers[1]}`,
      'Yes +12125550100',
    ];
    expect(await listed({ lead_id: leads[0]!.id })).toEqual([sentText, answer]);
    expect(await listed({ lead_id: leads[0]!.uuid })).toEqual([sentText, answer]);
    expect(await listed({ lead_id: leads[1]!.id, direction: 'inbound' })).toEqual([]);
    expect(await listed({ lead_id: leads[0]!.id, direction: 'inbound' })).toEqual([answer]);
    expect(await listed({ number: '(213) 555-0107' })).toEqual([lost]);
    expect(await listed({ number: numbers[0], status: 'delivered' })).toEqual([sentText]);
    expect(await listed({ number: numbers[1], status: 'undelivered' })).toEqual([lost]);
    expect(
      await listed({
        number: '+12125550100',
        status: 'received',
        direction: 'inbound',
        lead_id: leads[0]!.id,
      }),
    ).toEqual([answer]);
    expect(
      (await api('get', 'text_messages', { query: { number: 'unknown' } })).body.errors,
    ).toEqual({ number: [expect.any(String)] });
    expect((await api('get', 'text_messages', { query: { status: 'lost' } })).body.errors).toEqual({
      status: [expect.any(String)],
    });
  });

  test(
    'are shown with what they were made of, and not again while they are ' + 'unchanged',
    async () => {
      const [{ id, uuid }] = await records('text_messages', { lead_id: leads[0]!.id });
      const { body } = await api('get', `text_messages/${uuid}`);
      const expectedFields = {
        id,
        direction: 'outbound',
        from_number: '+12125550100',
        to_number: numbers[0],
        status: 'delivered',
        carrier: 'sandbox',
        sandbox: true,
      };
      expect(body.text_message).toMatchObject({
        ...expectedFields,
        lead_id: leads[0]!.id,
        schedule_id: shop.schedule.id,
        token_values: { first_name: 'Ann' },
      });
      expect(
        (await api('get', `text_messages/${id}`, { headers: { 'If-None-Match': body.checksum } }))
          .status,
      ).toBe(304);
      expect((await (await world.addCompany()).api('get', `text_messages/${id}`)).status).toBe(404);
    },
  );
});

describe('a text message that comes in', () => {
  test.each<[string, boolean]>([
    ...[
      'STOP',
      'stop',
      'Stop.',
      'STOP please',
      ' unsubscribe',
      'CANCEL',
      '"STOP"',
      '\n\tUnsubscribe me',
      'cancel it',
      'Ｓtop',
    ].map((body): [string, boolean] => [body, true]),
    ...['Please stop', 'Yes', 'START', 'Non stop', 'Do not cancel', '', '!', 'Ѕtop'].map(
      (body): [string, boolean] => [body, false],
    ),
  ])('%j opts its sender out: %s', async (body, optOut) => {
    const number = newNumber();
    const res = await says(number, body);
    const expected = {
      direction: 'inbound',
      status: 'received',
      from_number: number,
      to_number: '+12125550100',
      body,
      lead_id: null,
    };
    expect([res.status, res.body.text_message]).toEqual([201, expect.objectContaining(expected)]);
    expect((await loadContact(number))?.opt_out ?? false).toBe(optOut);
  });

  test.each([
    ['with surrogate pairs at the cut of logs', `STOP ${'x'.repeat(34)}🙂${'x'.repeat(158)}🙂`],
    ['of nothing but those', '🙂'.repeat(800)],
  ])('%s is kept whole', async (_name, body) => {
    const [{ schedule }, number] = [await openShop(world, []), newNumber()];
    const { id } = await submitLead(schedule.lead_token, number);
    expect((await says(number, body)).body.text_message).toMatchObject({ body, lead_id: id });
  });

  test(
    'that says STOP ends all contact with all leads of the number, and START lets ' + 'them go on',
    async () => {
      const nag = (n: number) => [wait(1), sms(`text ${n}`), DIAL, EMAIL];
      const [number, shops] = [
        newNumber(),
        [
          await openShop(world, nag(1), { exit_on: [] }),
          await openShop(world, nag(2), { exit_on: [] }),
        ],
      ];
      const tokens = [
        ...shops.map(({ schedule }) => schedule.lead_token),
        shops[0]!.offer.lead_token,
      ];
      const leads = await Promise.all(
        tokens.map((token) =>
          submitLead(token, number, { email: 'ann@example.com', schedule_callback_in_seconds: 60 }),
        ),
      );
      const statuses = async () =>
        (await Promise.all(leads.map(({ id }) => lead(id)))).map(({ status }) => status);
      await runEngine(world);
      await says(number, 'Stop it');
      expect(await statuses()).toEqual(['opt_out', 'opt_out', 'opt_out']);
      time.set('2027-01-12T19:00:00Z');
      expect((await runEngine(world), await loadContact(number))).toMatchObject({
        calls_count: 0,
        sms_count: 0,
        emails_count: 0,
        opt_out: true,
      });
      await says(number, 'Start');
      await runEngine(world);
      expect(await loadContact(number)).toMatchObject({
        opt_out: false,
        opted_in_at: expect.any(String),
      });
      time.set('2027-01-12T20:30:00Z');
      await runEngine(world);
      expect((await listBodies(number)).toSorted()).toEqual(['text 1', 'text 2']);
      expect((await statuses()).slice(0, 2)).toEqual([
        'completed_connected',
        'completed_connected',
      ]);
    },
  );

  test(
    'belongs to a living lead before one that ended, and to the one that was ' +
      'texted from that number',
    async () => {
      const [number, numberId] = [
        newNumber(),
        await ownNumber(world, world.company, '12125550177'),
      ];
      const [short, long, longer] = [
        await openShop(world, [sms('x')]),
        await openShop(world, [sms('y'), wait(24)]),
        await openShop(world, [wait(24)]),
      ];
      const [texted, latest] = [
        await submitLead(long.schedule.lead_token, number),
        await submitLead(longer.schedule.lead_token, number),
      ];
      await submitLead(short.schedule.lead_token, number);
      await runEngine(world);
      await world.sql('UPDATE leads SET sms_number_id = $2 WHERE id = $1', [texted.id, numberId]);
      expect((await says(number, 'which?', '+12125550177')).body.text_message).toMatchObject({
        lead_id: texted.id,
        schedule_id: long.schedule.id,
      });
      expect((await says(number, 'which?')).body.text_message.lead_id).toBe(latest.id);
      for (const { id } of [texted, latest])
        expect((await api('delete', `leads/${id}/id`)).status).toBe(200);
      const [last] = await records('leads', { number });
      expect((await says(number, 'which?', '+12125550177')).body.text_message.lead_id).toBe(
        last.id,
      );
      expect(
        (await records('lead_logs', { lead_id: last.id, event: 'sms_received' })).map(
          ({ message }: { message: string }) => message,
        ),
      ).toEqual(['which?']);
    },
  );

  test.each([
    ['to a number the company does not own', { to: '+13105559999' }, 'to'],
    ['to nothing that is a number', { to: 'us' }, 'to'],
    ['from nothing that is a number', { from: '12' }, 'from'],
    ['with more than 1600 characters', { body: 'x'.repeat(1601) }, 'body'],
  ])('%s is refused', async (_name, fields, field) => {
    const res = await api('post', 'text_messages/receive', {
      body: { from: '+13107770099', to: '+12125550100', body: 'x', ...fields },
    });
    expect([res.status, Object.keys(res.body.errors)]).toEqual([422, [field]]);
  });

  test('comes from the carrier itself where there is one', async () => {
    const real = await createWorld({
      environment: {
        CARRIER: 'twilio',
        TWILIO_ACCOUNT_SID: 'AC1',
        PUBLIC_URL: 'https://api.example.com',
      },
    });
    await ownNumber(real, real.company);
    const res = await real.company.api('post', 'text_messages/receive', {
      body: { from: '+13107770099', to: '+12125550100', body: 'STOP' },
    });
    await real.close();
    expect([res.status, res.body.errors]).toEqual([
      422,
      { from: [expect.stringContaining('twilio')] },
    ]);
  });
});
