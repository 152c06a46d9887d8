import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { runAdapter } from '../../../src/adapters/asterisk/adapter';
import { AriFault, type AriEvent, type AriRequest } from '../../../src/adapters/asterisk/ari/ari';
import type { Bridge, Channel } from '../../../src/adapters/asterisk/ari/ari';
import type { Command } from '../../../src/adapters/service/service';
import { openJournal } from '../../../src/adapters/service/journal';
import { eventually } from '../../support/engine-process';
import { playService, type Played } from '../support/played-service';
import { buildBuyer, buildSession, UUID } from '../support/sessions';

// The adapter between an Asterisk and a service that are played by this test.

const ATTEMPT = '01a00000-0000-7000-8000-00000000000a';
const LEG = `tl-leg-${ATTEMPT}`;

const buildChannel = (id: string, more: Partial<Channel> = {}): Channel => ({
  ...{ id, name: `PJSIP/trunk-${id}`, state: 'Ring', caller: { number: '+12015550100' } },
  dialplan: { exten: '+12125550100', app_name: 'Stasis', app_data: 'trunkline' },
  creationtime: new Date().toISOString(),
  ...more,
});

interface Setup extends Played {
  channels?: Channel[];
  bridges?: Bridge[];
  /** The number that the dialplan has kept. */
  called?: string;
  /** The last key press that the channels have. */
  played_id?: number;
  file?: string;
}

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

function play(setup: Setup = {}) {
  const played = { ...setup };
  const requests: AriRequest[] = [];
  const { service, ...facts } = playService(played);
  let listener: (event: AriEvent) => void = () => undefined;
  let lose: () => void = () => undefined;
  const ended = new AbortController();
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-journal-'));
  const file = played.file ?? join(folder, 'journal.jsonl');

  const askAri = async (request: AriRequest): Promise<unknown> => {
    requests.push(request);
    const { method, path } = request;
    if (method !== 'GET') return {};
    if (path === '/channels') return played.channels ?? [];
    if (path === '/bridges') return played.bridges ?? [];
    if (path === '/recordings/stored') return [];
    if (request.query?.variable === 'TRUNKLINE_PLAYED') return { value: String(played.played_id) };
    if (request.query?.variable === 'TRUNKLINE_CALLED' && played.called)
      return { value: played.called };
    const channel = played.channels?.find(({ id }) => path === `/channels/${id}`);
    if (channel) return channel;
    if (path.endsWith('/variable') && request.query?.variable?.includes('call-id'))
      return { value: `sid-of-${path.split('/')[2]}` };
    throw new AriFault(404, request, 'not there');
  };
  const running = runAdapter({
    ...{ service, journal: openJournal(file), log: pino({ level: 'silent' }) },
    signal: ended.signal,
    settings: {
      service: { url: '', key: '', name: 'edge' },
      ...{ dial: 'PJSIP/{number}@trunk', dial_sip: 'PJSIP/sip/{uri}', sounds_dir: folder },
      ...{ dial_trunk: '', prompt_sound: 'sound:press', headers: [] },
    },
    read_recording: async () => Buffer.from('wav'),
    connect: async () => ({
      ask: askAri as never,
      lost: new Promise<void>((done) => (lose = done)),
      onEvent: (next) => void (listener = next),
      close: () => lose(),
    }),
  });
  const stop = async () => {
    ended.abort();
    await running;
  };
  closing.push(stop, () => rmSync(folder, { recursive: true, force: true }));
  return {
    ...{ ...facts, played, file, stop },
    lose: () => lose(),
    send: (...events: AriEvent[]) => events.forEach((event) => listener(event)),
    did: (method: string, path: string) =>
      requests.filter((request) => request.method === method && request.path === path),
  };
}

/** Waits until it is so; the name says what is missing. */
const until = (_name: string, check: () => unknown) => eventually(check);

const start = (channel = buildChannel('c1')): AriEvent => ({
  type: 'StasisStart',
  args: [],
  channel,
});
const dial = () => buildSession({ action: 'dial', dial: [buildBuyer(ATTEMPT)] });

test('a caller is connected to the buyer who answers, and the end is reported with its side', async () => {
  const on = play({
    begins: dial,
    answers: { answered: buildSession({ action: 'connect', attempt: ATTEMPT }) },
  });
  await until('the first sync', () => on.syncs.length === 1);
  on.send(start());
  await until('a leg', () => on.did('POST', '/channels').length === 1);
  expect(on.did('POST', '/channels')[0]!.query).toMatchObject({
    ...{ endpoint: 'PJSIP/+13105550101@trunk', channelId: LEG, callerId: '+13105550188' },
  });
  on.send({ type: 'StasisStart', args: ['leg'], channel: buildChannel(LEG) });
  await until('a bridge', () => on.did('POST', `/bridges/tl-${UUID}/addChannel`).length === 1);
  on.send({ type: 'ChannelDestroyed', cause: 16, channel: buildChannel(LEG) });
  await until('the end', () => on.reported('completed').length === 1);
  expect(on.reported('completed')[0]).toMatchObject({
    path: `/call_sessions/${UUID}/events`,
    body: { by: 'buyer', duration: 0 },
  });
  await until('its end', () => on.did('DELETE', '/channels/c1').length === 1);
});

test('the Call-ID names the call, and the first sync comes before the first call', async () => {
  const on = play({ channels: [buildChannel('c1')], begins: dial });
  await until('a sync', () => on.syncs.length > 0);
  expect(on.syncs[0]!.live).toEqual(['sid-of-c1']);
  await until('a leg', () => on.did('POST', '/channels').length === 1);
});

test('a talk that was there before the process goes on, and its keys are not played again', async () => {
  const channels = [
    buildChannel('c1', { state: 'Up' }),
    buildChannel(LEG, { state: 'Up', dialplan: { exten: '', app_name: 'Stasis', app_data: 'x' } }),
  ];
  const creationtime = new Date(Date.now() - 60_000).toISOString();
  const bridges = [{ id: `tl-${UUID}`, channels: ['c1', LEG], creationtime }];
  const keys = { key_presses: [{ id: 5, digits: '12' }] };
  const begins = () => buildSession({ action: 'connect', attempt: ATTEMPT, ...keys });
  const on = play({ channels, bridges, begins, played_id: 5 });
  await until('the sync', () => on.syncs.length === 1);
  on.send({ type: 'ChannelDestroyed', cause: 16, channel: buildChannel('c1') });
  await until('the end', () => on.did('DELETE', `/channels/${LEG}`).length === 1);
  const [report] = on.reported('completed');
  expect(Number(report!.body.duration)).toBeGreaterThanOrEqual(60);
  expect(on.did('POST', `/channels/${LEG}/dtmf`)).toEqual([]);
  expect(on.did('POST', `/bridges/tl-${UUID}`)).toEqual([]);
});

test('a service that is away sends callers to the overflow, and gets them later', async () => {
  const channel = buildChannel('c1', { creationtime: '2026-11-27T10:00:00.000+0000' });
  const on = play({ is_away: true, channels: [channel] });
  await until('a listener', () => on.did('GET', '/recordings/stored').length === 1);
  on.send(start(channel));
  await until('overflow', () => on.did('POST', '/channels/c1/continue').length === 1);
  expect(on.did('POST', '/channels/c1/continue')[0]!.query).toMatchObject({
    context: 'trunkline-overflow',
  });
  expect(on.did('POST', '/applications/trunkline/subscription')[0]!.query).toEqual({
    eventSource: 'channel:c1',
  });
  const at = '2026-11-27T10:01:00.000+0000';
  on.send({ type: 'ChannelDestroyed', cause: 16, channel, timestamp: at });
  on.played.is_away = false;
  await until('the import', () => on.imported().length === 1);
  expect(on.imported()[0]).toEqual({
    ...{ call_sid: 'sid-of-c1', switch: 'edge', caller_number: '+12015550100' },
    ...{ number_called: '+12125550100', started_at: '2026-11-27T10:00:00.000Z' },
    ended_at: '2026-11-27T10:01:00.000Z',
  });
});

test('calls in the overflow when it starts are imported when they end', async () => {
  const dialplan = { exten: 's', context: 'trunkline-overflow', app_name: 'Dial' };
  const left = buildChannel('c1', { dialplan });
  const on = play({ channels: [left, buildChannel('c2', { dialplan })], called: '+12125550111' });
  await until('a listener', () => on.did('GET', '/recordings/stored').length === 1);
  on.played.channels = [left];
  on.lose();
  await until('the import of the other', () => on.imported().length === 1);
  expect(on.imported()[0]).toMatchObject({ call_sid: 'sid-of-c2', number_called: '+12125550111' });
});

test('events that had no answer are sent by the next process, in their order, once', async () => {
  const first = play({ begins: dial });
  await until('the first sync', () => first.syncs.length === 1);
  first.send(start());
  await until('a leg', () => first.did('POST', '/channels').length === 1);
  first.played.is_away = true;
  first.send({ type: 'ChannelStateChange', channel: buildChannel(LEG, { state: 'Ringing' }) });
  first.send({ type: 'ChannelDestroyed', cause: 0, channel: buildChannel('c1') });
  await until('its end', () => first.did('DELETE', '/channels/c1').length === 1);
  await first.stop();
  const next = play({ file: first.file });
  await until('both', () => next.posts.length === 2);
  expect(next.posts.map(({ body }) => body.event)).toEqual(['ringing', 'completed']);
  await next.stop();
  const last = play({ file: first.file });
  await until('the sync', () => last.syncs.length === 1);
  expect(last.posts).toEqual([]);
});

const originate = (id: number): Command =>
  ({
    ...{ id, command: 'originate', call_id: 1, call_uuid: UUID, call_sid: UUID },
    ...{ number: '+13105550102', caller_id: '+12125550100', timeout_seconds: 25 },
    detect_machine: 'at_once',
  }) as never;

test('a person is called once, also where the command comes again after a restart', async () => {
  const on = play();
  on.commands.push(originate(3));
  await until('a result', () => on.results().length === 1);
  expect(on.did('POST', '/channels')[0]!.query).toMatchObject({
    ...{ channelId: `tl-person-${UUID}`, timeout: '25', appArgs: 'person,at_once' },
  });
  await on.stop();
  const next = play({ file: on.file });
  next.commands.push(originate(3));
  await until('a result', () => next.results().length === 1);
  expect(next.did('POST', '/channels')).toEqual([]);
});

test('a person is reported with who has answered, and then dialed for as a caller', async () => {
  const on = play({ answers: { answered: dial() } });
  on.commands.push(originate(3));
  await until('a result', () => on.results().length === 1);
  const channel = buildChannel(`tl-person-${UUID}`, { state: 'Up' });
  on.send({ type: 'StasisStart', args: ['person', 'at_once'], channel });
  const path = `/channels/${channel.id}/continue`;
  await until('a detection', () => on.did('POST', path).length === 1);
  on.send({ type: 'StasisEnd', channel });
  on.send({ type: 'StasisStart', args: ['detected', 'HUMAN'], channel });
  await until('a leg', () => on.did('POST', '/channels').length === 2);
  expect(on.reported('answered')[0]!.body).toEqual({ event: 'answered', answered_by: 'human' });
});

test('a command about a call that is not there fails by name', async () => {
  const on = play();
  on.commands.push({ ...originate(4), command: 'hang_up' });
  await until('a result', () => on.results().length === 1);
  expect(on.results()[0]).toEqual({
    path: '/switches/edge/commands/4',
    body: { result: 'failed', reason: 'no such call' },
  });
});
