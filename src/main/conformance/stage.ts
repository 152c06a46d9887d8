import { setTimeout as sleep } from 'node:timers/promises';
import { createCompany } from '../../operate/installation/create-company';
import { issueCredentials } from '../../domain/people/issue-credentials';
import type { Deps } from '../../domain/deps';
import type { Schemas } from '../../platform/contract/contract';
import { openService, type Service } from '../cli/service';
import { openDoor, type Door, type Exchange } from './door';

// A company for an adapter to work for, its calls, and what the adapter does about them.

/** The adapter does not do what it should; the text says what. */
export class Fault extends Error {}

/** There is no way to see it here; the text says what is missing. */
export class NotSeen extends Error {}

/** A call to be placed at the switch. */
export interface CallPlan {
  number: string;
  caller: string;
  /** After which the caller hangs up; null if the buyer or the switch does. */
  talk_seconds: number | null;
  /** `answered`, `any`, or the SIP status by which the switch should refuse it. */
  expected: string;
}

export interface PlacedCall {
  /** A fault that the caller has seen, when the call is over; undefined without one. */
  ended: Promise<string | undefined>;
  hangUp(): void;
}

export interface Surroundings {
  /** Numbers or SIP addresses of buyers. */
  answers: string;
  busy?: string | undefined;
  /** Rings, and does not answer. */
  rings?: string | undefined;
  /** Hosts of trunks: one that refuses, and one that works. */
  trunks?: readonly [string, string] | undefined;
  /** The switch places calls too. */
  places_calls: boolean;
  placeCall(plan: CallPlan): PlacedCall;
  /** Ends the adapter at once, and starts it again; undefined where that cannot be done. */
  restart?: (() => Promise<void>) | undefined;
  /** Seconds to wait for what the adapter does at once, and for its next sync. */
  patience: { prompt: number; sync: number };
  /** For how long the parties talk, and by how much the reported time may differ. */
  talk_seconds: number;
  max_difference_seconds: number;
  /** Seconds for what is not seen from here, such as the end of a leg. */
  settle_seconds: number;
}

export interface StageOptions extends Surroundings {
  deps: Deps;
  /** Where the service listens. */
  url: string;
  door: { host: string; port: number };
  /** Key pair and name of the adapter. */
  key: string;
  switch_name: string;
  number: string;
  caller: string;
}

export interface Stage extends Surroundings {
  door: Door;
  ask: Service['ask'];
  switch_name: string;
  number: string;
  caller: string;
  number_id: number;
  /** Calls of the scenario that runs, and the exchanges before it. */
  calls: PlacedCall[];
  since: number;
  close(): Promise<void>;
}

const PERMISSIONS = ['calls:create', 'calls:update', 'calls:read', 'switches:operate'];

/** Makes a company with a switch and a number, and opens the door for its adapter. */
export async function openStage(options: StageOptions): Promise<Stage> {
  const { deps, url, switch_name: name, number } = options;
  let serviceKey = '';
  const { credentials } = await createCompany('Conformance', deps, {
    more: async (db) => {
      const adapter = {
        name,
        kind: 'key_pair',
        permissions: PERMISSIONS,
        superuser: false,
      } as const;
      const issuing = { pepper: deps.pepper, now: deps.clock() };
      const issued = await issueCredentials(db, adapter, issuing);
      serviceKey = `${issued.public_key}:${issued.private_key}`;
    },
  });
  const { ask } = openService(url, `${credentials.public_key}:${credentials.private_key}`);
  await ask('POST', '/switches', { name, places_calls: options.places_calls });
  const { number: owned } = await ask<Schemas['PhoneNumberReply']>('POST', '/phone_numbers', {
    ...{ name: 'Conformance', number },
  });
  const keys = { adapter: options.key, service: serviceKey };
  const door = await openDoor({ ...options.door, service: url, keys });
  return { ...options, door, ask, number_id: owned.id!, calls: [], since: 0, close: door.close };
}

/** A call that the adapter has reported. */
export interface ReportedCall {
  uuid: string;
  sid: string;
  /** The buyers that it was to dial first. */
  dial: Schemas['CallSession']['instruction']['dial'];
  placed: PlacedCall;
  buyer_ids: number[];
}

type Fields = Record<string, unknown>;

interface NewOffer {
  /** The numbers of buyers, in the order in which they are to be dialed. */
  buyers: readonly string[];
  /** They are dialed at once. */
  at_once?: boolean;
  number?: Fields;
}

/** Has the number lead to an offer of these buyers, and returns the ids of all. */
export async function leadTo(stage: Stage, { buyers, at_once, number }: NewOffer) {
  const ids: number[] = [];
  for (const [index, buyerNumber] of buyers.entries()) {
    const body = { name: `Buyer ${index + 1}`, number: buyerNumber, tier: index + 1 };
    const fields = { ...body, timeout_seconds: 20, concurrency_cap_limit: 5 };
    ids.push((await stage.ask<Schemas['BuyerReply']>('POST', '/buyers', fields)).buyer.id!);
  }
  const group = { name: 'Conformance', dial_buyers_type: 'simultaneously', buyer_ids: ids };
  const dialed = at_once
    ? await stage.ask<Schemas['BuyerGroupReply']>('POST', '/buyer_groups', group)
    : undefined;
  const offer = dialed ? { buyer_group_ids: [dialed.buyer_group.id] } : { buyer_ids: ids };
  const created = await stage.ask<Schemas['OfferReply']>('POST', '/offers', {
    ...{ name: 'Conformance', ...offer },
  });
  const offerId = created.offer.id!;
  const change = { offer_id: offerId, ...number };
  await stage.ask('PUT', `/phone_numbers/${stage.number_id}`, change);
  return { buyer_ids: ids, offer_id: offerId };
}

type Manner = Partial<Pick<CallPlan, 'talk_seconds' | 'expected'>>;

/** Places a call at the switch. */
export function placeCall(
  stage: Stage,
  { talk_seconds = null, expected = 'answered' }: Manner = {},
): PlacedCall {
  const { number, caller } = stage;
  const placed = stage.placeCall({ number, caller, talk_seconds, expected });
  stage.calls.push(placed);
  return placed;
}

/** The service has answered, and done it. */
export const isAccepted = ({ status = 0 }: Exchange): boolean => status >= 200 && status < 300;

export const isStart = ({ method, path }: Exchange): boolean =>
  method === 'POST' && path === '/call_sessions';

/** Places a call to these buyers, and waits until the adapter has reported it. */
export async function startCall(stage: Stage, call: NewOffer & Manner): Promise<ReportedCall> {
  const { buyer_ids } = await leadTo(stage, call);
  const since = mark(stage);
  const placed = placeCall(stage, call);
  const { answer } = await waitFor(stage, 'POST /call_sessions that begins the call', {
    ...{ since, accept: (exchange) => isStart(exchange) && isAccepted(exchange) },
  });
  const { uuid, call_sid, instruction } = (answer as Schemas['CallSessionReply']).call_session;
  if (!call_sid) throw new Fault('POST /call_sessions has no call_sid');
  return { uuid, sid: call_sid, dial: instruction.dial, placed, buyer_ids };
}

/** The exchanges so far: what comes later is new. */
export const mark = ({ door }: Stage): number => door.exchanges.length;

interface Wanted {
  since?: number;
  seconds?: number;
  accept(exchange: Exchange): boolean;
}

const LOOK_MS = 50;

/** Waits for a request of the adapter. Throws a Fault that names it if it does not come. */
export async function waitFor(
  stage: Stage,
  name: string,
  { since = 0, seconds = stage.patience.prompt, accept }: Wanted,
): Promise<Exchange> {
  const findMatch = () => stage.door.exchanges.slice(since).find(accept);
  const isThere = () => {
    if (findMatch()) return true;
    const refusal = findRefusal(stage);
    if (refusal !== undefined) throw new Fault(refusal);
    return false;
  };
  await waitUntil(isThere, seconds, `there is no ${name}`);
  return findMatch()!;
}

/** Waits until it is so. Throws a Fault, with the text and the time, if it is not. */
export async function waitUntil(
  isSo: () => boolean | Promise<boolean>,
  seconds: number,
  text: string,
): Promise<void> {
  const end = Date.now() + seconds * 1000;
  while (!(await isSo())) {
    if (Date.now() > end) throw new Fault(`${text} within ${seconds} s`);
    await sleep(LOOK_MS);
  }
}

/** Returns true for a report of this event of the call. */
export function isEvent({ method, path, body }: Exchange, call: NamedCall, event: string): boolean {
  const [, reference] = /^\/call_sessions\/(.+)\/events$/.exec(path) ?? [];
  if (method !== 'POST' || body.event !== event) return false;
  return reference === call.uuid || reference === `sid:${call.sid}`;
}

interface NamedCall {
  uuid: string;
  sid: string;
}

/** Waits until an event of the call was reported, and accepted. */
export const waitForEvent = (
  stage: Stage,
  call: NamedCall,
  event: string,
  { accept = () => true, ...rest }: Partial<Wanted> = {},
): Promise<Exchange> =>
  waitFor(stage, `event ${event}`, {
    ...rest,
    accept: (exchange) =>
      isAccepted(exchange) && isEvent(exchange, call, event) && accept(exchange),
  });

/** Waits until the caller's side is over. Throws a Fault of what the caller has seen. */
export async function waitForEnd(
  stage: Stage,
  placed: PlacedCall,
  seconds: number = stage.patience.prompt,
): Promise<void> {
  const late = `the caller was not hung up on within ${seconds} s`;
  const ended = await Promise.race([placed.ended, sleep(seconds * 1000, late, { ref: false })]);
  if (ended !== undefined) throw new Fault(ended);
}

export const readCall = async (stage: Stage, { uuid }: NamedCall): Promise<Schemas['Call']> =>
  (await stage.ask<Schemas['CallReply']>('GET', `/calls/${uuid}`)).call;

/** A request that the service does not take is a fault, even if the call went on. */
export function findRefusal({ door, since }: Stage): string | undefined {
  const refused = door.exchanges.slice(since).find(isRefusal);
  if (!refused) return undefined;
  const { method, path, status, body, answer } = refused;
  const { errors, detail } = (answer ?? {}) as { errors?: object; detail?: string };
  const why = errors && Object.keys(errors).length > 0 ? JSON.stringify(errors) : detail;
  return `${method} ${path} was answered ${status}: ${why} (${JSON.stringify(body)})`;
}

/** Without those that a good adapter may get, as the service knew more than it did. */
function isRefusal({ status = 0, body }: Exchange): boolean {
  // An event of a call that may have begun while the service was away.
  if (status === 404) return false;
  // The end of a call that has ended at the service.
  if (status === 409 && body.event === 'completed') return false;
  return status >= 400 && status < 500;
}
