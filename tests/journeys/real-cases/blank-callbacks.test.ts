import { contract, facets } from '../../../src/platform/contract/contract';
import { signJambonz } from '../../support/jambonz-rest';
import { JAMBONZ_SECRET } from '../../support/world';
import { carrierRequests, US } from '../../support/carrier-requests';

// Carriers leave out or leave blank what they do not know, and callers are not always numbers.

const here = carrierRequests();
const { hook, text, placedCall, callStatus, loadRow } = here;

const OWN = ['To', 'From', 'to'];
const operations = contract.operations.filter(
  ({ credentials }) => credentials === 'carrier_signature',
);

function sendAsJambonz(path: string, body: object) {
  const text = JSON.stringify(body);
  const signature = signJambonz(JAMBONZ_SECRET, text, here.world.deps.clock());
  const headers = { 'Content-Type': 'application/json', 'Jambonz-Signature': signature };
  return here.world.company.api('post', path, { auth: null, headers, body: text });
}

test.each(operations.map((operation) => [operation.id, operation] as const))(
  '%s is refused for no blank field',
  async (_, operation) => {
    const { required = [] } = contract.resolve(operation.body!);
    const names = Object.keys(facets(operation.body!).properties);
    const call = await placedCall('queued');
    const query = new URLSearchParams({
      call: call.uuid,
      attempt: call.uuid,
      round: '1',
      number: US.slice(1),
      key: call.uuid,
    });
    const parameters = operation.parameters.map(({ name }) => name);
    for (const name of [...query.keys()]) if (!parameters.includes(name)) query.delete(name);
    const path = `${operation.path.replace('/api/v1/', '')}?${query.toString()}`;
    for (const blank of ['', ' ']) {
      const body = Object.fromEntries(
        names.map((name): [string, string] => {
          if (OWN.includes(name) && name === (operation.own_number ?? 'To')) return [name, US];
          return [name, required.includes(name) ? `X${call.uuid}` : blank];
        }),
      );
      const address = path.replace(/\?$/, '');
      const res = operation.media_types.includes('application/json')
        ? await sendAsJambonz(address, body)
        : await hook(address, body);
      expect(res.status).not.toBe(422);
      expect(res.status).toBeLessThan(500);
    }
  },
);

test('a blank duration is none: the clock decides', async () => {
  const call = await placedCall('ringing');
  await callStatus(call, 'in-progress');
  expect((await callStatus(call, 'completed', { CallDuration: '' })).status).toBe(200);
  expect(await loadRow('calls', call)).toMatchObject({ status: 'completed' });
});

const NO_NUMBERS = ['alice', '1001', '72345', 'sip:alice@example.com', 'anonymous', 'BANK'];
const NUMBERS: [string, string][] = [
  ['00442079460958', '442079460958'],
  ['442079460958', '442079460958'],
  ['whatsapp:+13105550123', '13105550123'],
  ['3105550123', '13105550123'],
];

describe('a text', () => {
  const receive = async (From: string, more = {}) => {
    const message = text('STOP', { From, ...more });
    const res = await hook('telephony/sms', message);
    const [row] = await here.world.sql(
      'SELECT * FROM text_messages WHERE carrier_message_id = $1',
      [message.MessageSid],
    );
    return { status: res.status, row: row as Record<string, unknown> };
  };
  test.each(NO_NUMBERS)('of %j is kept, with what the carrier calls its sender', async (From) => {
    const { status, row } = await receive(From);
    expect([status, row.from_number, row.token_values]).toEqual([200, null, { caller_raw: From }]);
    const shown = await here.world.company.api('get', `text_messages/${String(row.id)}`);
    expect(shown.body.text_message).toMatchObject({ from_number: null, body: 'STOP' });
  });
  test.each(['', ' '])('of nobody (%j) is kept', async (From) => {
    const { status, row } = await receive(From);
    expect([status, row.from_number, row.token_values]).toEqual([200, null, {}]);
  });
  test.each(NUMBERS)('of %j is of the number', async (From, number) => {
    expect((await receive(From)).row).toMatchObject({ from_number: number, token_values: {} });
  });
  test.each([US.slice(1), US.slice(2), `00${US.slice(1)}`, '+1 (212) 555-0100'])(
    'to %j is to our number',
    async (To) => {
      expect((await receive('+13105550124', { To })).row).toMatchObject({
        to_number: US.slice(1),
      });
    },
  );
});

describe('a call', () => {
  let sequence = 0;
  beforeAll(async () => {
    const { api } = here.world.company;
    const offer = await api('post', 'offers', { body: { name: 'Offer' } });
    await api('put', `phone_numbers/${encodeURIComponent(US)}`, {
      body: { offer_id: offer.body.offer.id },
    });
  });
  const receive = async (fields: Record<string, string>) => {
    const CallSid = `CA-real-${++sequence}`;
    const res = await hook('telephony/voice', { CallSid, To: US, ...fields });
    const [row] = await here.world.sql('SELECT * FROM calls WHERE carrier_call_id = $1', [CallSid]);
    return { status: res.status, row: row as Record<string, unknown> };
  };
  test.each(NO_NUMBERS)('of %j is of a caller who withholds the number', async (From) => {
    const { status, row } = await receive({ From });
    expect([status, row.caller_number, row.token_values]).toEqual([
      200,
      null,
      { caller_raw: From },
    ]);
  });
  test.each<Record<string, string>>([{}, { From: '' }])(
    'of nobody (%j) is routed',
    async (fields) => {
      const { status, row } = await receive(fields);
      expect([status, row.caller_number, row.token_values]).toEqual([200, null, {}]);
    },
  );
  test.each(NUMBERS)('of %j is of the number', async (From, number) => {
    expect((await receive({ From })).row).toMatchObject({ caller_number: number });
  });
  test.each([US.slice(1), US.slice(2)])('to %j is to our number', async (To) => {
    expect((await receive({ To, From: '+13105550124' })).row).toMatchObject({
      to_number: US.slice(1),
    });
  });

  describe('of a softswitch', () => {
    const begin = async (body: object) => {
      const { api } = here.world.company;
      const res = await api('post', 'call_sessions', { body: { number_called: US, ...body } });
      const { caller_number } = res.body.call_session;
      const { call } = (await api('get', `calls/${res.body.call_session.id}`)).body;
      return [res.status, caller_number, call.token_values];
    };
    test.each([...NO_NUMBERS, 'call me'])(
      'from %j is of a caller who withholds the number',
      async (text) => {
        expect(await begin({ caller_number: text })).toEqual([201, null, { caller_raw: text }]);
        const tokens = { caller_raw: 'mine' };
        expect(await begin({ caller_number: text, tokens })).toEqual([201, null, tokens]);
      },
    );
    test.each(NUMBERS)('from %j is of the number', async (text, number) => {
      expect(await begin({ caller_number: text })).toEqual([201, `+${number}`, {}]);
    });
    test.each([{}, { caller_number: '' }, { caller_number: null }])(
      'of nobody (%j) is routed',
      async (body) => {
        expect(await begin(body)).toEqual([201, null, {}]);
      },
    );
  });
});
