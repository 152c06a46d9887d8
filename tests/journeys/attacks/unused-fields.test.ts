import { endStaleCalls } from '../../../src/domain/calls/end-stale-calls';
import { softswitch } from '../../support/softswitch';

// All fields of an event of a softswitch are stored, or the event is refused with the reason. The
// URL of a recording can be reported at any time.

const here = softswitch('2026-06-01T16:00:00Z');
const { ok, buyer, offer, begin, later, report } = here;
const api: typeof here.world.company.api = (...args) => here.world.company.api(...args);

type Fields = Record<string, unknown>;
type Call = { id: number; uuid: string; attempt: string };

const FILE = 'https://switch.example.com/recordings/1.mp3';
const loadCall = async ({ id }: Call) => (await ok('get', `calls/${id}`)).call as Fields;
const loadEvents = async ({ id }: Call): Promise<(Fields & { details: Fields | null })[]> =>
  (await ok('get', `calls/${id}/events`)).call_events;
const send = ({ id }: Call, body: Fields) => api('post', `call_sessions/${id}/events`, { body });
async function loseCalls(): Promise<void> {
  later(1000);
  await endStaleCalls(here.world.deps);
}

async function ring(fields: Fields = {}, ofOffer: Fields = {}): Promise<Call> {
  const to = await buyer(fields);
  const call = await begin(await offer({ buyer_ids: [to], ...ofOffer }));
  return { ...call, attempt: call.instruction.dial[0].attempt };
}

const STATES: Record<string, () => Promise<Call>> = {
  ringing: () => ring(),
  'ringing who must press 1': () => ring({ press_one_to_accept: true }),
  'asked to press 1': async () => {
    const call = await ring({ press_one_to_accept: true });
    await report(call, 'answered');
    return call;
  },
  connected: async () => {
    const call = await ring();
    await report(call, 'answered');
    return call;
  },
  'hung up': async () => {
    const call = await ring();
    await report(call, 'answered');
    later(30);
    await report(call, 'completed');
    return call;
  },
  'without a buyer': async () => {
    const call = await ring({}, { fallback_type: 'voicemail' });
    await report(call, 'busy');
    return call;
  },
  'lost while it rang': async () => {
    const call = await ring();
    await loseCalls();
    return call;
  },
  'lost while it was asked': async () => {
    const call = await ring({ press_one_to_accept: true });
    await report(call, 'answered');
    await loseCalls();
    return call;
  },
  'lost while it talked': async () => {
    const call = await ring();
    await report(call, 'answered');
    await loseCalls();
    return call;
  },
};
const EVENTS = [
  ...['ringing', 'answered', 'key_press', 'no_answer', 'busy', 'failed', 'duration'],
  ...['completed', 'recording'],
];
const FIELDS = ['key', 'duration', 'recording_url', 'hangup_cause', 'agent_id'];

describe.each(Object.keys(STATES))('of a call that is %s', (state) => {
  test.each(EVENTS)('what %s carries is stored, or refused with the reason', async (event) => {
    const call = await STATES[state]!();
    const { agent } = await ok('post', 'agents', { user_email: 'ann@example.com' });
    const fields: Fields = {
      ...{ key: '1', duration: 77, recording_url: FILE, hangup_cause: 'cause 7' },
      agent_id: String(agent.id),
    };
    const body: Fields = { event, attempt: call.attempt, ...fields };
    later(5);
    const before = [await loadCall(call), await loadEvents(call)];
    const first = await send(call, body);
    expect(first.status).toBe(409);
    expect([await loadCall(call), await loadEvents(call)]).toEqual(before);
    for (const [field, [reason, ...moreReasons]] of Object.entries<string[]>(first.body.errors)) {
      expect([FIELDS.includes(field), reason, moreReasons]).toEqual([
        true,
        expect.stringMatching(/^is not used: \w/),
        [],
      ]);
      expect(first.body.error_codes[field]).toEqual(['not_used']);
      body[field] = undefined;
    }
    const usedFields = FIELDS.filter((field) => body[field] !== undefined);
    // Without its key, a key press says nothing.
    if (event === 'key_press' && !usedFields.includes('key')) return;
    expect((await send(call, body)).status).toBe(200);

    const now = await loadCall(call);
    const news = (await loadEvents(call)).slice((before[1] as Fields[]).length);
    const where: Record<string, unknown> = {
      key: news.find(({ details }) => details?.key === '1'),
      duration: now.answered_duration === 77,
      recording_url: now.recording_url === FILE,
      hangup_cause: now.hangup_cause === 'cause 7' || news.some((e) => e.message === 'cause 7'),
      agent_id: now.agent_id === agent.id,
    };
    expect(usedFields.filter((field) => !where[field])).toEqual([]);
    // A switch that did not get the answer sends the same again.
    later(5);
    expect((await send(call, body)).status).toBe(200);
    expect((await loadCall(call)).recording_url).toBe(now.recording_url);
  });
});

test('what is used where', async () => {
  const fields = async (state: string, event: string) => {
    const call = await STATES[state]!();
    const userEmail = `${state} ${event}@example.com`.replaceAll(' ', '-');
    const { agent } = await ok('post', 'agents', { user_email: userEmail });
    const all = { key: '1', duration: 77, recording_url: FILE, hangup_cause: 'cause 7' };
    const res = await send(call, { event, ...all, agent_id: agent.id });
    return FIELDS.filter((field) => !(field in res.body.errors)).join(' ');
  };
  expect({
    'answered while ringing': await fields('ringing', 'answered'),
    'key_press when asked': await fields('asked to press 1', 'key_press'),
    'completed while ringing': await fields('ringing', 'completed'),
    'completed when connected': await fields('connected', 'completed'),
    'completed after the end': await fields('hung up', 'completed'),
    'completed when lost': await fields('lost while it rang', 'completed'),
    'recording after the end': await fields('hung up', 'recording'),
  }).toEqual({
    'answered while ringing': 'recording_url agent_id',
    'key_press when asked': 'key recording_url agent_id',
    'completed while ringing': 'recording_url hangup_cause',
    'completed when connected': 'duration recording_url hangup_cause agent_id',
    'completed after the end': '',
    'completed when lost': 'duration recording_url hangup_cause agent_id',
    'recording after the end': 'recording_url',
  });
});

test('an attempt of another call is refused, whatever the event', async () => {
  const [first, second] = [await ring(), await STATES['hung up']!()];
  for (const event of EVENTS)
    for (const [call, attempt] of [
      [first, second.attempt],
      [second, first.attempt],
    ] as const)
      expect([event, (await send(call, { event, attempt })).status]).toEqual([event, 422]);
});

describe('a recording', () => {
  test.each(Object.keys(STATES))('of a call that is %s is stored and shown', async (state) => {
    const call = await STATES[state]!();
    const before = await loadCall(call);
    await ok('post', 'outgoing_webhooks', {
      ...{ name: 'Changes', trigger_type: 'call_changed', owner_type: 'Company' },
      url: 'https://hooks.example.com/',
    });
    later(60);
    const { attempt } = call;
    const body = { event: 'recording', recording_url: FILE, attempt };
    const session = (await ok('post', `call_sessions/${call.id}/events`, body)).call_session;
    expect(session.status).toBe(before.status);
    const now = await loadCall(call);
    expect(now).toEqual({
      ...before,
      ...{ recording_url: FILE, updated_at: now.updated_at },
      // These run while the call does.
      ...{ total_duration: now.total_duration, hold_duration: now.hold_duration },
      ...{ ivr_duration: now.ivr_duration, attempted_duration: now.attempted_duration },
      ...{ agent_duration: now.agent_duration, answered_duration: now.answered_duration },
    });
    const [event, ...moreEvents] = (await loadEvents(call)).filter(
      (candidate) => candidate.event === 'recording',
    );
    expect([event!.details, event!.buyer_id, moreEvents]).toEqual([
      { recording_url: FILE, attempt },
      expect.any(Number),
      [],
    ]);
    const list = (await ok('get', 'calls?has_recording=true')).calls;
    expect(list.map(({ id }: Fields) => id)).toEqual([call.id]);
    expect((await ok('get', 'calls?has_recording=false')).calls).toEqual([]);
    expect((await api('get', 'calls.csv?columns=recording_url')).text).toContain(FILE);
    const webhookEvents = await here.world.sql('SELECT FROM webhook_events WHERE company_id = $1', [
      here.world.company.id,
    ]);
    expect(webhookEvents).toHaveLength(before.ended_at ? 1 : 0);
  });

  test('is kept once, however often and at once it is reported', async () => {
    const call = await STATES['hung up']!();
    const body = { event: 'recording', recording_url: FILE };
    const answers = await Promise.all([1, 2, 3, 4].map(() => send(call, body)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const events = await loadEvents(call);
    expect(events.filter(({ event }) => event === 'recording')).toHaveLength(1);
  });

  test('takes the place of an earlier one, which does not come back when it is repeated', async () => {
    const call = await STATES['hung up']!();
    const next = `${FILE}?part=2`;
    for (const recordingUrl of [FILE, next, FILE])
      expect((await send(call, { event: 'recording', recording_url: recordingUrl })).status).toBe(
        200,
      );
    expect((await loadCall(call)).recording_url).toBe(next);
  });

  test('is an http(s) URL, and must be given', async () => {
    const call = await STATES['hung up']!();
    for (const recordingUrl of [
      'javascript:alert(1)',
      'file:///etc/passwd',
      'rec-1.mp3',
      'http://',
    ])
      for (const event of ['recording', 'completed'])
        expect((await send(call, { event, recording_url: recordingUrl })).body.errors).toEqual({
          recording_url: [expect.any(String)],
        });
    for (const recordingUrl of [null, '', undefined]) {
      const res = await send(call, { event: 'recording', recording_url: recordingUrl });
      expect([res.status, res.body.error_codes]).toEqual([
        422,
        { recording_url: ['missing_field'] },
      ]);
    }
  });

  test('that is reported with the end which comes twice is refused by name', async () => {
    const call = await STATES['hung up']!();
    const res = await send(call, { event: 'completed', recording_url: FILE });
    expect([res.status, res.body.errors]).toEqual([
      409,
      {
        recording_url: ['is not used: the call has ended: report it by the event `recording`'],
      },
    ]);
  });

  test('keeps a call alive like any event, and loses no buyer of it', async () => {
    const [firstBuyer, secondBuyer] = [await buyer(), await buyer()];
    const group = await here.group({
      dial_buyers_type: 'simultaneously',
      buyer_ids: [firstBuyer, secondBuyer],
    });
    const call = await begin(await offer({ buyer_group_ids: [group] }));
    const slots = () =>
      here.world.sql(
        'SELECT lease_until FROM call_slots WHERE company_id = $1 ORDER BY call_limit_id',
        [here.world.company.id],
      );
    const before = await slots();
    later(10);
    await report(call, 'recording', { recording_url: FILE });
    const now = await slots();
    expect(now).toHaveLength(before.length);
    expect(now).not.toEqual(before);
  });
});
