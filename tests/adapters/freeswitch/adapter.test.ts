import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { runAdapter } from '../../../src/adapters/freeswitch/adapter';
import { openJournal } from '../../../src/adapters/service/journal';
import type { Command } from '../../../src/adapters/service/service';
import { eventually } from '../../support/engine-process';
import { playService, type Played } from '../support/played-service';
import { buildBuyer, buildSession, UUID } from '../support/sessions';

// The adapter between a FreeSWITCH and a service that are played by this test.

const [A, B] = ['01a00000-0000-7000-8000-00000000000a', '01a00000-0000-7000-8000-00000000000b'];
const CALLER = 'c1';
const KEY = 'trunkline:secret';

interface Setup extends Played {
  file?: string;
  /** Answers of the console to commands that begin so. */
  console?: Record<string, string>;
}

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function play(setup: Setup = {}) {
  const played = { ...setup };
  const { service, ...facts } = playService(played);
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-journal-'));
  const file = played.file ?? join(folder, 'journal.jsonl');
  const ended = new AbortController();
  const did: string[] = [];
  const answerConsole = (command: string) =>
    Object.entries(played.console ?? {}).find(([start]) => command.startsWith(start))?.[1];
  let lose: () => void = () => undefined;
  let port = 0;
  const running = runAdapter({
    ...{ service, journal: openJournal(file), log: pino({ level: 'silent' }) },
    signal: ended.signal,
    settings: {
      service: { url: '', key: '', name: 'edge' },
      ...{ dial: 'sofia/gateway/trunk/{number}', dial_sip: 'sofia/trunkline/{uri}' },
      ...{ dial_trunk: 'sofia/gateway/{trunk}/{number}', sounds_dir: folder },
      ...{ prompt_sound: 'press.wav', headers: ['X-Campaign', 'Diversion'] },
      recordings_dir: '/recordings',
    },
    door: { host: '127.0.0.1', port: 0, key: KEY },
    listening: (chosen) => void (port = chosen),
    connect: async () => ({
      api: async (command) => {
        did.push(command);
        if (command.startsWith('show')) return answerConsole('show') ?? '{"row_count":0}';
        if (command.startsWith('uuid_getvar')) return answerConsole(command) ?? '_undef_';
        return answerConsole(command) ?? 'true';
      },
      lost: new Promise<void>((done) => (lose = done)),
      onRecordingEnd: () => undefined,
      close: () => lose(),
    }),
  });
  const stop = async () => {
    ended.abort();
    await running;
  };
  closing.push(stop, () => rmSync(folder, { recursive: true, force: true }));
  await eventually(() => facts.syncs.length > 0 || played.is_away);
  const url = `http://127.0.0.1:${port}/`;
  const post = (form: Record<string, string>, headers: Record<string, string> = {}) =>
    fetch(url, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(KEY).toString('base64')}`, ...headers },
      body: new URLSearchParams(form),
    });
  /** A request of FreeSWITCH about a channel, and the document that it gets. */
  const ask = async (channel: string, form: Record<string, string> = {}): Promise<string> => {
    const all = { session_id: channel, full_channel_data_on_every_req: 'true', ...form };
    const response = await post(all);
    if (!response.ok) throw new Error(`status ${response.status}`);
    return response.text();
  };
  return {
    ...{ ...facts, played, file, stop, did, url, post, ask },
    /** The caller comes in. */
    begin: (form: Record<string, string> = {}) =>
      ask(CALLER, {
        ...{ 'Caller-Destination-Number': '+12125550100', variable_sip_call_id: 'sid-1' },
        ...{ 'Caller-Caller-ID-Number': '+12015550100', ...form },
      }),
    /** The leg to a buyer is over. */
    endLeg: (document: string, form: Record<string, string> = {}) =>
      ask(CALLER, { ...readVariables(document), ...form }),
    /** The buyer of a document has answered, or has gone on. */
    answer: (document: string, form: Record<string, string> = {}) => {
      const [, channel, buyer, caller] =
        /origination_uuid=([^,]+),trunkline_buyer=([^,]+),trunkline_caller=([^,]+),/.exec(
          document,
        )!;
      return ask(channel!, {
        ...{ variable_trunkline_buyer: buyer!, variable_trunkline_caller: caller!, ...form },
      });
    },
    exit: (document: string, form: Record<string, string> = {}) =>
      ask(CALLER, { ...readVariables(document), exiting: 'true', ...form }),
  };
}

/** The variables that a document leaves, as the next request has them. */
const readVariables = (document: string): Record<string, string> =>
  Object.fromEntries(
    [...document.matchAll(/<(trunkline_\w+)>([^<]+)</g)].map(([, name, value]) => [
      `variable_${name!}`,
      value!,
    ]),
  );

const readBridge = (document: string): string | undefined =>
  /application="bridge" data="([^"]*)"/.exec(document)?.[1];

/** The caller of a document was with its leg. */
const buildTalk = (document: string, more: Record<string, string> = {}) => ({
  variable_last_bridge_to: readVariables(document).variable_trunkline_leg!,
  variable_bridge_uepoch: '1700000000000000',
  variable_end_uepoch: '1700000042000000',
  variable_sip_hangup_disposition: 'recv_bye',
  ...more,
});

const ENDED = {
  variable_start_uepoch: '1700000000000000',
  variable_end_uepoch: '1700000042000000',
  variable_sip_call_id: 'sid-1',
  'Caller-Destination-Number': '+12125550100',
  'Caller-Caller-ID-Number': '+12015550100',
};

const dial = (...buyers: ReturnType<typeof buildBuyer>[]) =>
  buildSession({ action: 'dial', dial: buyers });
const connect = (more = {}) => buildSession({ action: 'connect', attempt: A, ...more });

describe('the door', () => {
  test('lets only those in who have the key, and answers only requests about a channel', async () => {
    const on = await play();
    const form = { session_id: CALLER, full_channel_data_on_every_req: 'true' };
    const wrong = `Basic ${Buffer.from('trunkline:guess').toString('base64')}`;
    expect((await on.post(form, { authorization: wrong })).status).toBe(401);
    expect((await fetch(on.url)).status).toBe(401);
    expect((await on.post({ ...form, session_id: 'x y' })).status).toBe(400);
    expect((await on.post({ session_id: CALLER })).status).toBe(500);
    expect((await on.post({ ...form, big: 'x'.repeat(1_100_000) })).status).toBe(413);
  });
});

describe('a caller', () => {
  test('is connected to the buyer who answers, and the call is reported with its time', async () => {
    const buyer = buildBuyer(A, { record_calls: true, dtmf_tones: 'w12' });
    const on = await play({
      begins: () => dial(buyer),
      answers: { answered: connect({ max_seconds: 60 }) },
    });
    const document = await on.begin();
    expect(document).toContain('leg_timeout=20');
    expect(document).toContain('origination_caller_id_number=+13105550188');
    const accepted = await on.answer(document);
    expect(accepted).toContain('<trunkline_accepted>yes</trunkline_accepted>');
    const work = [...accepted.matchAll(/application="(\w+)" data="([^"]*)"/g)];
    expect(work.map(([, application, data]) => `${application!} ${data!}`)).toEqual([
      ...['send_dtmf w12', `record_session /recordings/tl-talk-${UUID}.wav`],
      'sched_hangup +60 allotted_timeout',
    ]);
    expect(accepted).toContain('<break></break>');
    await on.exit(document, buildTalk(document));
    await eventually(() => on.reported('completed').length === 1);
    expect(on.posts.map(({ body }) => body)).toEqual([
      { event: 'answered', attempt: A, leg_sid: expect.any(String) },
      { event: 'completed', by: 'caller', duration: 42 },
    ]);
  });

  test('goes to one buyer after the other, each with its own headers', async () => {
    const [first, second] = [
      buildBuyer(A, { headers: { 'X-Lead': '1' } }),
      buildBuyer(B, { number: 'sip:b@b.example' }),
    ];
    const on = await play({
      begins: () => dial(first, second),
      answers: { failed: buildSession({ action: 'wait', dial: [second] }) },
    });
    const document = await on.begin({ variable_sip_h_X_Caller: 'private' });
    expect(document).toContain('<sip_h_X-Lead>1</sip_h_X-Lead>');
    expect(document).toContain('<sip_h_X_Caller></sip_h_X_Caller>');
    expect(readBridge(document)).toMatch(/\}sofia\/gateway\/trunk\/\+13105550101$/);
    const next = await on.endLeg(document, {
      'variable_sip_h_X-Lead': '1',
      variable_sip_invite_failure_status: '486',
      variable_originate_disposition: 'USER_BUSY',
    });
    expect(on.reported('failed')[0]!.body).toEqual({ event: 'failed', sip_code: 486, attempt: A });
    expect(readBridge(next)).toMatch(/\}sofia\/trunkline\/sip:b@b\.example$/);
    expect(next).toContain('<sip_h_X-Lead></sip_h_X-Lead>');
    // The next leg's failure is not that of the leg before.
    expect(next).toContain('<sip_invite_failure_status></sip_invite_failure_status>');
  });

  test('is dialed on for through the next trunk where one is not there', async () => {
    const trunk = (name: string) => ({ name, host: name, number: '13105550101' });
    const on = await play({
      begins: () => dial(buildBuyer(A, { trunk: trunk('west') })),
      answers: { failed: dial(buildBuyer(A, { trunk: trunk('east') })) },
    });
    const document = await on.begin();
    const next = await on.endLeg(document, { variable_originate_disposition: 'GATEWAY_DOWN' });
    expect(on.reported('failed')[0]!.body).toMatchObject({ trunk: 'west', sip_code: 503 });
    expect(readBridge(next)).toMatch(/\}sofia\/gateway\/east\/13105550101$/);
  });

  test('rings in vain where a leg was ended in time, whatever status its end had', async () => {
    const on = await play({ begins: () => dial(buildBuyer(A)) });
    await on.endLeg(await on.begin(), {
      variable_sip_invite_failure_status: '487',
      variable_originate_disposition: 'ALLOTTED_TIMEOUT',
    });
    expect(on.reported('no_answer')).toHaveLength(1);
  });

  test('is refused with the status of the service', async () => {
    const on = await play({
      begins: () =>
        buildSession({ action: 'hang_up', sip_status: 603, sip_reason: 'No"<hangup/>' }),
    });
    expect(await on.begin()).toContain('application="respond" data="603 Nohangup"');
    expect(await on.exit('')).toContain('<work></work>');
    expect(on.posts).toEqual([]);
  });

  test('hears the message, leaves a voicemail, and its end is reported once', async () => {
    const fallback = { type: 'voicemail', message: 'sound:closed', number: null } as const;
    const on = await play({ begins: () => buildSession({ action: 'fallback', fallback }) });
    const document = await on.begin();
    expect(document).toContain('file="closed"');
    expect(document).toContain(`data="/recordings/tl-voicemail-${UUID}.wav 300 200 10"`);
    expect(await on.ask(CALLER, readVariables(document))).toContain('<hangup>');
    await on.exit(document);
    await eventually(() => on.reported('fallback_ended').length === 1);
    expect(on.posts.map(({ body }) => body.event)).toEqual(['fallback_started', 'fallback_ended']);
  });

  test('goes to the dialplan while the service is away, and no sync says that it is live', async () => {
    const on = await play({ begins: () => dial(buildBuyer(A)) });
    on.played.is_away = true;
    const document = await on.begin();
    expect(document).toContain('<break></break>');
    on.played.is_away = false;
    await on.exit(document);
    await eventually(() => on.reported('completed').length === 1);
    expect(on.reported('completed')[0]).toMatchObject({
      path: '/call_sessions/sid%3Asid-1/events',
      body: { hangup_cause: 'overflow' },
    });
  });

  test('is imported when it is over, if the service has not heard of it', async () => {
    const on = await play();
    on.played.is_away = true;
    const document = await on.begin();
    await on.exit(document, ENDED);
    on.played.is_away = false;
    await eventually(() => on.imported().length === 1);
    expect(on.imported()[0]).toMatchObject({
      ...{ call_sid: 'sid-1', number_called: '+12125550100', caller_number: '+12015550100' },
      ...{ started_at: '2023-11-14T22:13:20.000Z', ended_at: '2023-11-14T22:14:02.000Z' },
    });
  });

  test('who hangs up while the service is asked leaves no call behind', async () => {
    let open: (() => void) | undefined;
    const on = await play();
    const waiting = new Promise<void>((done) => (open = done));
    on.played.begins = () => dial(buildBuyer(A));
    on.played.before_start = () => waiting;
    const document = on.begin();
    await eventually(() => on.starts() === 1);
    await on.ask(CALLER, { exiting: 'true' });
    open!();
    expect(await document).toContain('<hangup>');
    await eventually(() => on.reported('completed').length === 2);
    expect(on.reported('completed')[1]!.path).toBe(`/call_sessions/${UUID}/events`);
  });
});

describe('text from outside', () => {
  test('is one part of a dial string, or is not dialed', async () => {
    const evil = ['sip:a@b{x=1}', 'sip:a@b]c', 'sip:a:_:b@c', '+1,error/user_busy', 'sip:${x}@y'];
    for (const number of evil) {
      const on = await play({ begins: () => dial(buildBuyer(A, { number })) });
      expect(readBridge(await on.begin())).toBeUndefined();
      expect(on.reported('failed')[0]!.body).toMatchObject({ q850: 27, attempt: A });
      await on.stop();
    }
  });

  test('is escaped, and cannot have variables of FreeSWITCH in it', async () => {
    const headers = { 'X-A': '$${global} </sip_h_X-A> "&\r\nX-B: 1', 'X>': 'no' };
    const buyer = buildBuyer(A, { headers, caller_id: "1',{x=y}" });
    const on = await play({ begins: () => dial(buyer) });
    const document = await on.begin();
    expect(document).toContain(
      '<sip_h_X-A>{global} &lt;/sip_h_X-A&gt; &quot;&amp; X-B: 1</sip_h_X-A>',
    );
    expect(document).not.toContain('X&gt;');
    expect(document).toContain('origination_caller_id_number=anonymous');
  });
});

describe('a buyer who has to press 1', () => {
  const pressOne = () => dial(buildBuyer(A, { press_one_to_accept: true }));
  const askForKey = buildSession({ action: 'ask_for_key', attempt: A, prompt: null });

  test('hears the prompt, and is connected by the key', async () => {
    const on = await play({
      begins: pressOne,
      answers: { answered: askForKey, key_press: connect() },
    });
    const document = await on.begin();
    expect(document).toContain('trunkline_accepted=no');
    const prompt = await on.answer(document);
    expect(prompt).toContain('file="press.wav" name="trunkline_key" input-timeout="10000"');
    expect(prompt).toContain('<bind>1</bind>');
    const accepted = await on.answer(document, { trunkline_key: '1' });
    expect(accepted).toContain('<trunkline_accepted>yes</trunkline_accepted>');
    expect(on.reported('key_press')[0]!.body).toMatchObject({ attempt: A, key: '1' });
  });

  test.each([
    ['another key', { trunkline_key: '2' }, 'key_press'],
    ['no key', {}, 'no_answer'],
  ])('is let go by %s, which is reported once', async (_, form, event) => {
    const next = dial(buildBuyer(B));
    const on = await play({
      begins: pressOne,
      answers: { answered: askForKey, key_press: next, no_answer: next },
    });
    const document = await on.begin();
    await on.answer(document);
    expect(await on.answer(document, form)).toContain('<hangup>');
    const after = await on.endLeg(document, { variable_originate_disposition: 'CALL_REJECTED' });
    expect(on.posts.map(({ body }) => body.event)).toEqual(['answered', event]);
    expect(readBridge(after)).toContain(B);
  });

  test('is not connected while the service is away; another is', async () => {
    const on = await play({ begins: pressOne });
    const document = await on.begin();
    on.played.is_away = true;
    expect(await on.answer(document)).toContain('<hangup>');
    const other = await play({ begins: () => dial(buildBuyer(A)) });
    const next = await other.begin();
    other.played.is_away = true;
    expect(await other.answer(next)).toContain('<trunkline_accepted>yes</trunkline_accepted>');
  });
});

describe('a process that has just started', () => {
  test('reports what has become of a leg that the one before had dialed', async () => {
    const first = await play({ begins: () => dial(buildBuyer(A)) });
    const document = await first.begin();
    await first.stop();
    const on = await play({
      begins: () => buildSession({ action: 'wait', dial: [buildBuyer(A)] }),
      answers: { failed: dial(buildBuyer(B)) },
    });
    const next = await on.endLeg(document, {
      variable_sip_call_id: 'sid-1',
      variable_sip_invite_failure_status: '603',
    });
    expect(on.reported('failed')[0]!.body).toMatchObject({ attempt: A, sip_code: 603 });
    expect(readBridge(next)).toContain(B);
  });

  test('reports a buyer who was connected meanwhile, and the time of the talk', async () => {
    const first = await play({ begins: () => dial(buildBuyer(A)) });
    const document = await first.begin();
    await first.stop();
    const on = await play({
      begins: () => buildSession({ action: 'wait', dial: [buildBuyer(A)] }),
    });
    await on.exit(document, buildTalk(document, { variable_sip_hangup_disposition: 'send_bye' }));
    await eventually(() => on.reported('completed').length === 1);
    expect(on.posts.map(({ body }) => body.event)).toEqual(['answered', 'completed']);
    expect(on.reported('completed')[0]!.body).toMatchObject({ by: 'buyer', duration: 42 });
  });

  test('bills no buyer for a caller whom the dialplan has sent elsewhere', async () => {
    const first = await play({ begins: () => dial(buildBuyer(A)) });
    const document = await first.begin();
    await first.stop();
    const on = await play({
      begins: () => buildSession({ action: 'wait', dial: [buildBuyer(A)] }),
    });
    await on.exit(document, buildTalk(document, { variable_last_bridge_to: 'overflow' }));
    await eventually(() => on.reported('completed').length === 1);
    expect(on.posts.map(({ body }) => body)).toEqual([
      { event: 'completed', by: 'switch', hangup_cause: 'overflow' },
    ]);
  });

  test('has the calls of FreeSWITCH in its first sync, by the names that they have there', async () => {
    const rows = [
      { uuid: CALLER, direction: 'inbound' },
      { uuid: 'other', direction: 'inbound' },
      { uuid: 'leg', direction: 'outbound' },
    ];
    const variables = {
      sip_call_id: 'sid-1',
      trunkline_step: 'leg',
      trunkline_attempt: A,
      trunkline_leg: 'leg',
    };
    const console = {
      show: JSON.stringify({ rows }),
      ...Object.fromEntries(
        Object.entries(variables).map(([name, value]) => [`uuid_getvar ${CALLER} ${name}`, value]),
      ),
    };
    const on = await play({ console, begins: connect });
    expect(on.syncs[0]!.live).toEqual(['sid-1']);
    on.commands.push(buildCommand(1, { command: 'play_keys', digits: '5' }));
    await eventually(() => on.results().length === 1);
    expect(on.did).toContain('uuid_send_dtmf leg 5');
  });
});

const buildCommand = (id: number, more: Partial<Command>): Command => ({
  ...{ id, command: 'hang_up', status: 'open', created_at: '', expires_at: '', call_id: 1 },
  ...{ call_uuid: UUID, call_sid: 'sid-1', attempt: null, leg_sid: null, digits: null },
  ...{ key_press_id: null, number: null, caller_id: null, timeout_seconds: null },
  ...{ detect_machine: null, reason: null, ...more },
});

describe('a command', () => {
  test('ends the call, whose end is then not reported', async () => {
    const on = await play({ begins: () => dial(buildBuyer(A)) });
    const document = await on.begin();
    on.commands.push(buildCommand(1, {}));
    await eventually(() => on.results().length === 1);
    expect(on.did).toContain(`uuid_kill ${CALLER}`);
    await on.exit(document);
    expect(on.posts.map(({ body }) => body)).toEqual([{ result: 'done' }]);
  });

  test('stops the leg that rings, and no other', async () => {
    const on = await play({ begins: () => dial(buildBuyer(A)) });
    const leg = readVariables(await on.begin()).variable_trunkline_leg!;
    on.commands.push(buildCommand(1, { command: 'stop_leg', attempt: B }));
    on.commands.push(buildCommand(2, { command: 'stop_leg', attempt: A }));
    await eventually(() => on.results().length === 2);
    expect(on.results().map(({ body }) => body.result)).toEqual(['failed', 'done']);
    expect(on.did.filter((command) => command.startsWith('uuid_kill'))).toEqual([
      `uuid_kill ${leg}`,
    ]);
  });

  test('plays keys once, also where it comes again after a restart', async () => {
    const on = await play({ begins: () => dial(buildBuyer(A)), answers: { answered: connect() } });
    await on.answer(await on.begin());
    on.commands.push(buildCommand(1, { command: 'play_keys', digits: '1w2' }));
    on.commands.push(buildCommand(2, { command: 'play_keys', digits: '3', key_press_id: 7 }));
    on.commands.push(buildCommand(3, { command: 'play_keys', digits: '1 $x' }));
    await eventually(() => on.results().length === 3);
    expect(on.results().find(({ path }) => path.endsWith('/3'))!.body.result).toBe('failed');
    const played = on.did.filter((command) => command.includes('dtmf'));
    expect(played.map((command) => command.split(' ').at(-1))).toEqual(['1w2', '3']);
    expect(on.did).toContain(`uuid_setvar ${CALLER} trunkline_played 7`);
    await on.stop();
    const console = { [`uuid_getvar ${CALLER} trunkline_played`]: '7' };
    const next = await play({
      ...{ file: on.file, console, begins: () => dial(buildBuyer(A)) },
      answers: { answered: connect({ key_presses: [{ id: 7, digits: '3' }] }) },
    });
    const accepted = await next.answer(await next.begin());
    expect(accepted).not.toContain('send_dtmf');
    next.commands.push(buildCommand(1, { command: 'play_keys', digits: '1w2' }));
    next.commands.push(buildCommand(2, { command: 'play_keys', digits: '3', key_press_id: 7 }));
    await eventually(() => next.results().length === 2);
    expect(next.did.filter((command) => command.includes('dtmf'))).toEqual([]);
  });

  test('that this door cannot carry out fails by name', async () => {
    const on = await play({ begins: () => dial(buildBuyer(A)) });
    await on.begin();
    on.commands.push(buildCommand(1, { call_uuid: B, call_sid: 'other' }));
    on.commands.push(buildCommand(2, { command: 'transfer', number: '+12125550101' }));
    await eventually(() => on.results().length === 2);
    expect(on.results().map(({ body }) => body.reason)).toEqual([
      ...['no such call', 'this switch does not know the command'],
    ]);
  });
});
