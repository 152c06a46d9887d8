import { setTimeout as sleep } from 'node:timers/promises';
import type { Schemas } from '../../platform/contract/contract';
import type { Exchange } from './door';
import {
  Fault,
  NotSeen,
  isAccepted,
  isEvent,
  isStart,
  leadTo,
  mark,
  placeCall,
  readCall,
  startCall,
  waitForEnd,
  waitForEvent,
  waitFor,
  waitUntil,
  type ReportedCall,
  type Stage,
} from './stage';

/** The checklist of docs/switches.md. */
export const CHECKLIST = {
  begin: 'sends `call_sid` and repeats a `POST` that got no answer',
  legs: 'reports each leg by `attempt`, with its `trunk`, and stops legs in `cancel`',
  queue: 'queues events that got no answer, with their `duration`, across its own restart',
  overflow: 'sends calls elsewhere when the service is away, and imports them afterwards',
  sound: 'plays `greeting` and each key press once',
  commands: 'gets commands, carries out each `id` once, and reports results',
  sync: 'syncs at its start and once a minute',
  codes: 'gives `sip_code` with `failed`, and refuses callers with `sip_status`',
  originate: "places each `originate` once, and reports the person's leg without `attempt`",
} as const;

export interface Scenario {
  name: string;
  /** The item of the checklist that it is about. */
  item: keyof typeof CHECKLIST;
  /** Throws a Fault, or NotSeen. */
  run(stage: Stage): Promise<void>;
}

export const SCENARIOS: readonly Scenario[] = [
  { item: 'sync', name: 'the first sync comes before the first call', run: syncFirst },
  { item: 'begin', name: 'a call is answered, and ends with its caller', run: talk },
  { item: 'begin', name: 'a call whose beginning got no answer is one call', run: loseStart },
  { item: 'codes', name: 'a buyer that is busy is followed by the next', run: failOver },
  { item: 'codes', name: 'a caller is refused with the status of SIP', run: refuse },
  { item: 'legs', name: 'of two buyers that ring, one has the call', run: ringTwo },
  { item: 'legs', name: 'a trunk that fails is followed by the next', run: failTrunk },
  { item: 'queue', name: 'an answer that got no answer is reported again', run: loseAnswered },
  { item: 'queue', name: 'an end is reported when the service is back', run: endAway },
  { item: 'queue', name: 'an end is reported by the next process', run: endBetween },
  { item: 'overflow', name: 'calls go elsewhere while the service is away', run: overflow },
  { item: 'sound', name: 'keys are played to the buyer', run: pressKeys },
  { item: 'commands', name: 'a call that is in syncs is hung up by a command', run: hangUp },
  { item: 'sync', name: 'a call that has ended at the service is hung up', run: endBySync },
  { item: 'sync', name: 'a restart frees the slots of calls that are gone', run: restart },
  { item: 'originate', name: 'a person is called once', run: originate },
];

const isSync =
  ({ switch_name }: Stage) =>
  (exchange: Exchange): boolean =>
    exchange.path === `/switches/${switch_name}/sync` && isAccepted(exchange);

async function syncFirst(stage: Stage): Promise<void> {
  await leadTo(stage, { buyers: [stage.answers] });
  placeCall(stage, { talk_seconds: stage.talk_seconds, expected: 'any' });
  const sync = await waitFor(stage, `POST /switches/${stage.switch_name}/sync`, {
    ...{ seconds: stage.patience.sync, accept: isSync(stage) },
  });
  const { exchanges } = stage.door;
  if (exchanges.slice(0, exchanges.indexOf(sync)).some(isStart))
    throw new Fault('a call was begun before the first sync, which would have ended it');
}

/** Waits until the first buyer that is dialed has answered. */
async function waitForTalk(stage: Stage, call: ReportedCall): Promise<Exchange> {
  const answered = await waitForEvent(stage, call, 'answered');
  if (answered.body.attempt === undefined) throw new Fault('event answered has no attempt');
  return answered;
}

async function talk(stage: Stage): Promise<void> {
  const { answers } = stage;
  const call = await startCall(stage, { buyers: [answers], talk_seconds: stage.talk_seconds });
  await waitForTalk(stage, call);
  await waitForEvent(stage, call, 'completed');
  await waitForEnd(stage, call.placed);
  await expectEnd(stage, call, 'caller');
}

/** The record says that the buyer had the call, for about as long as the caller was there. */
async function expectEnd(
  stage: Stage,
  call: ReportedCall,
  by: 'caller' | undefined,
  buyerId: number = call.buyer_ids[0]!,
): Promise<void> {
  const {
    status,
    buyer_id,
    answered_duration: duration,
    hangup_cause,
  } = await readCall(stage, call);
  if (status !== 'completed' || buyer_id !== buyerId)
    throw new Fault(`the call is ${status} by the events, and its buyer is ${String(buyer_id)}`);
  if (Math.abs(Number(duration) - stage.talk_seconds) > stage.max_difference_seconds)
    throw new Fault(`by the events the talk took ${String(duration)} s, not ${stage.talk_seconds}`);
  if (by === 'caller' && hangup_cause !== 'caller_hung_up')
    throw new Fault('event completed does not say that it was by the caller');
}

async function loseStart(stage: Stage): Promise<void> {
  const since = mark(stage);
  stage.door.disturb({ kind: 'lose', times: 1, applies: isStart });
  const call = await startCall(stage, {
    buyers: [stage.answers],
    talk_seconds: stage.talk_seconds,
  });
  const listStarts = () => stage.door.exchanges.slice(since).filter(isStart);
  await waitUntil(
    () => listStarts().length > 1,
    stage.patience.prompt,
    'POST /call_sessions without an answer is not repeated',
  );
  if (listStarts().some(({ body }) => body.call_sid !== call.sid))
    throw new Fault('POST /call_sessions was repeated with another call_sid: two calls');
  await waitForTalk(stage, call);
  await waitForEvent(stage, call, 'completed');
  await expectEnd(stage, call, undefined);
}

async function failOver(stage: Stage): Promise<void> {
  const { busy, answers } = stage;
  if (busy === undefined) throw new NotSeen('name a busy telephone with --busy');
  const call = await startCall(stage, {
    buyers: [busy, answers],
    talk_seconds: stage.talk_seconds,
  });
  const [first] = call.dial;
  const isOfFirst = ({ body }: Exchange) => body.attempt === first!.attempt;
  const isFailure = (exchange: Exchange) =>
    ['failed', 'busy'].some((event) => isEvent(exchange, call, event));
  const { body } = await waitFor(stage, 'event failed of the busy buyer, with its attempt', {
    accept: (exchange) => isFailure(exchange) && isOfFirst(exchange),
  });
  if (body.event === 'failed' && body.sip_code === undefined && body.q850 === undefined)
    throw new Fault('event failed has neither sip_code nor q850');
  const answered = await waitForTalk(stage, call);
  if (isOfFirst(answered)) throw new Fault('event answered names the attempt of the busy buyer');
  await waitForEvent(stage, call, 'completed');
  await expectEnd(stage, call, undefined, call.buyer_ids[1]);
}

/** For callers that the traffic source has no room for. */
const REFUSED_STATUS = '486';

async function refuse(stage: Stage): Promise<void> {
  type Source = Schemas['TrafficSourceReply'];
  const { traffic_source } = await stage.ask<Source>('POST', '/traffic_sources', {
    ...{ name: 'Full', concurrency_cap_limit: 0 },
  });
  const number = { traffic_source_id: String(traffic_source.id) };
  try {
    const call = { buyers: [stage.answers], number, expected: REFUSED_STATUS };
    const { placed } = await startCall(stage, call);
    await waitForEnd(stage, placed);
  } finally {
    await stage.ask('PUT', `/phone_numbers/${stage.number_id}`, { traffic_source_id: null });
  }
}

async function ringTwo(stage: Stage): Promise<void> {
  const { rings, answers } = stage;
  if (rings === undefined) throw new NotSeen('name a telephone that only rings with --rings');
  const call = await startCall(stage, { buyers: [rings, answers], at_once: true });
  const taken = await waitForTalk(stage, call);
  const other = call.dial.find(({ attempt }) => attempt !== taken.body.attempt)!;
  // The adapter stops the leg when it has the answer.
  await sleep(stage.settle_seconds * 1000);
  const since = mark(stage);
  await stage.ask('POST', `/switches/${stage.switch_name}/commands`, {
    ...{ call_id: call.uuid, command: 'stop_leg', attempt: other.attempt },
  });
  const result = await waitForResult(stage, since);
  if (result?.result === 'done')
    throw new Fault('the other buyer still rang after the answer that lists it in cancel');
  call.placed.hangUp();
  await waitForEvent(stage, call, 'completed');
}

async function failTrunk(stage: Stage): Promise<void> {
  const { trunks, answers } = stage;
  if (!trunks) throw new NotSeen('name two trunks with --trunks, of which the first refuses');
  if (answers.startsWith('sip')) throw new NotSeen('--answers is no telephone number');
  const names = ['refuses', 'works'];
  for (const [index, name] of names.entries())
    await stage.ask('POST', '/trunks', { name, host: trunks[index], position: index });
  const call = await startCall(stage, { buyers: [answers], talk_seconds: stage.talk_seconds });
  const failed = await waitForEvent(stage, call, 'failed');
  if (failed.body.trunk !== 'refuses') throw new Fault('event failed does not name the trunk');
  await waitForTalk(stage, call);
  await waitForEvent(stage, call, 'completed');
  await expectEnd(stage, call, undefined);
}

async function loseAnswered(stage: Stage): Promise<void> {
  const isAnswered = ({ path, body }: Exchange) =>
    path.endsWith('/events') && body.event === 'answered';
  stage.door.disturb({ kind: 'lose', times: 1, applies: isAnswered });
  stage.door.disturb({ kind: 'refuse', times: 1, applies: isAnswered });
  const since = mark(stage);
  const call = await startCall(stage, {
    buyers: [stage.answers],
    talk_seconds: stage.talk_seconds,
  });
  await waitUntil(
    () => stage.door.exchanges.slice(since).filter(isAnswered).length >= 3,
    stage.patience.prompt,
    'event answered is not repeated until it has an answer',
  );
  await waitForEvent(stage, call, 'completed');
  await expectEnd(stage, call, undefined);
}

/** The caller hangs up while the service is away. */
async function endWhileAway(stage: Stage, meanwhile: () => Promise<void>): Promise<void> {
  const call = await startCall(stage, { buyers: [stage.answers] });
  await waitForTalk(stage, call);
  await sleep(stage.talk_seconds * 1000);
  stage.door.setAway(true);
  const since = mark(stage);
  try {
    call.placed.hangUp();
    await waitForEnd(stage, call.placed);
    await sleep(stage.settle_seconds * 1000);
    await meanwhile();
  } finally {
    stage.door.setAway(false);
  }
  const { body } = await waitForEvent(stage, call, 'completed', { since });
  if (body.duration === undefined) throw new Fault('a late event completed has no duration');
  await expectEnd(stage, call, undefined);
}

async function endAway(stage: Stage): Promise<void> {
  await endWhileAway(stage, () => sleep(stage.talk_seconds * 1000));
}

async function endBetween(stage: Stage): Promise<void> {
  const { restart: startAgain } = stage;
  if (!startAgain) throw new NotSeen('let it start the adapter with --adapter');
  await endWhileAway(stage, startAgain);
}

async function overflow(stage: Stage): Promise<void> {
  await leadTo(stage, { buyers: [stage.answers] });
  const since = mark(stage);
  stage.door.setAway(true);
  try {
    const plan = { talk_seconds: stage.talk_seconds, expected: 'any' };
    await waitForEnd(stage, placeCall(stage, plan), stage.patience.sync);
  } finally {
    stage.door.setAway(false);
  }
  const { answer } = await waitFor(stage, 'POST /call_sessions/import of the call', {
    ...{ since, seconds: stage.patience.sync },
    accept: (exchange) => exchange.path === '/call_sessions/import' && isAccepted(exchange),
  });
  const { results } = answer as Schemas['CallImportReply'];
  const refused = results.find(({ result }) => result === 'refused');
  if (refused) throw new Fault(`the import was refused: ${JSON.stringify(refused.errors)}`);
}

async function pressKeys(stage: Stage): Promise<void> {
  const call = await startCall(stage, { buyers: [stage.answers] });
  await waitForTalk(stage, call);
  const since = mark(stage);
  await stage.ask('POST', '/calls/send_key_press', { id: call.uuid, digits: '12' });
  await expectDone(stage, since);
  call.placed.hangUp();
  await waitForEvent(stage, call, 'completed');
}

async function hangUp(stage: Stage): Promise<void> {
  const call = await startCall(stage, { buyers: [stage.answers] });
  await waitForTalk(stage, call);
  const isListed = ({ body }: Exchange) =>
    Array.isArray(body.live) &&
    [call.sid, call.uuid].some((id) => (body.live as string[]).includes(id));
  await waitFor(stage, 'sync that lists a live call', {
    ...{ seconds: stage.patience.sync, since: mark(stage) },
    accept: (exchange) => isSync(stage)(exchange) && isListed(exchange),
  });
  // It asks again, or sends the result again.
  stage.door.disturb({ kind: 'lose', times: 1, applies: isResult(stage) });
  const since = mark(stage);
  await stage.ask('POST', `/calls/${call.uuid}`, { hang_up: true });
  await waitForEnd(stage, call.placed);
  await waitForResult(stage, since);
}

const isResult =
  ({ switch_name }: Stage) =>
  ({ method, path }: Exchange): boolean =>
    method === 'POST' && path.startsWith(`/switches/${switch_name}/commands/`);

const listCommands = async ({ ask, switch_name }: Stage): Promise<Schemas['SwitchCommand'][]> =>
  (await ask<Schemas['SwitchCommandList']>('GET', `/switches/${switch_name}/commands`)).commands;

/** Waits until no command waits for its result, and returns the last that was sent, if any was. */
async function waitForResult(stage: Stage, since: number): Promise<Exchange['body'] | undefined> {
  const isDone = async () => (await listCommands(stage)).length === 0;
  await waitUntil(isDone, stage.patience.prompt, 'a command has no result');
  return stage.door.exchanges.slice(since).findLast(isResult(stage))?.body;
}

/** The commands since then have been carried out. */
async function expectDone(stage: Stage, since: number): Promise<void> {
  const result = await waitForResult(stage, since);
  if (result?.result === 'failed')
    throw new Fault(`a command has failed: ${String(result.reason)}`);
}

/** Commands do not get through: the sync is the only way to hear of the end. */
async function endBySync(stage: Stage): Promise<void> {
  const call = await startCall(stage, { buyers: [stage.answers] });
  await waitForTalk(stage, call);
  const allow = stage.door.disturb({
    ...{ kind: 'refuse', times: Infinity },
    applies: ({ path }) => path.startsWith(`/switches/${stage.switch_name}/commands`),
  });
  try {
    await stage.ask('POST', `/calls/${call.uuid}`, { hang_up: true });
    await waitForEnd(stage, call.placed, stage.patience.sync);
  } finally {
    allow();
  }
}

async function restart(stage: Stage): Promise<void> {
  const { restart: startAgain } = stage;
  if (!startAgain) throw new NotSeen('let it start the adapter with --adapter');
  const call = await startCall(stage, { buyers: [stage.answers] });
  await waitForTalk(stage, call);
  const boots = new Set(stage.door.exchanges.filter(isSync(stage)).map(({ body }) => body.boot_id));
  const since = mark(stage);
  await startAgain();
  const sync = await waitFor(stage, 'sync of the next process, with another boot_id', {
    ...{ since, seconds: stage.patience.sync },
    accept: (exchange) => isSync(stage)(exchange) && !boots.has(exchange.body.boot_id),
  });
  const isLive = (sync.body.live as string[]).length > 0;
  call.placed.hangUp();
  if (isLive) await waitForEvent(stage, call, 'completed', { since });
  const isFree = async () => {
    const path = `/buyers/${call.buyer_ids[0]!}`;
    const { buyer } = await stage.ask<Schemas['BuyerReply']>('GET', path);
    return buyer.concurrency_cap_used === 0;
  };
  await waitUntil(isFree, stage.patience.prompt, 'the call of the process before keeps its slot');
}

async function originate(stage: Stage): Promise<void> {
  if (!stage.places_calls) throw new NotSeen('say --places-calls if the switch places calls');
  const { offer_id } = await leadTo(stage, { buyers: [stage.answers] });
  const since = mark(stage);
  // The list with the command comes twice.
  const isList = ({ method, path }: Exchange) =>
    method === 'GET' && path === `/switches/${stage.switch_name}/commands`;
  stage.door.disturb({ kind: 'lose', times: 1, applies: isList });
  const { call } = await stage.ask<Schemas['CallReply']>('POST', '/calls', {
    ...{ to: stage.caller, offer_id },
  });
  const placed = { uuid: call.uuid!, sid: call.uuid! };
  const isOfPerson = ({ body }: Exchange) => body.attempt === undefined;
  await waitForEvent(stage, placed, 'answered', { since, accept: isOfPerson });
  await waitForEvent(stage, placed, 'answered', {
    since,
    accept: (exchange) => !isOfPerson(exchange),
  });
  await waitForResult(stage, since);
  const answers = stage.door.exchanges
    .slice(since)
    .filter((exchange) => isEvent(exchange, placed, 'answered') && isOfPerson(exchange));
  if (answers.length > 1) throw new Fault('the person was called, and has answered, twice');
  await stage.ask('POST', `/calls/${call.uuid}`, { hang_up: true });
  // A sync may have ended it before: then there is no such call.
  await waitForResult(stage, since);
}
