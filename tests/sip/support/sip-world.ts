import { buildEnvironment } from '../../support/job-process';
import { ownNumber } from '../../support/leads';
import { startServer, type Running } from '../../support/process';
import type { Fields } from '../../support/records';
import { openWorld, type UsedWorld } from '../../support/use-world';
import { startKamailio, type Kamailio, type Settings } from './kamailio';
import { missingPrograms } from './programs';
import { testTogether } from './scenarios';
import { placeCalls, startUas, type CallOptions, type PlacedCalls } from './sides';
import type { Uas, UasKind } from './sides';
import type { Side } from './sipp';
import { startTelephone, type Telephone, type TelephoneOptions } from './telephone';
import { waitUntil } from './waiting';

/** The built service as a process, which tests stop and start. */
export interface Service {
  url: string;
  /** It keeps its connections, and does not answer. */
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
  start(): Promise<void>;
}

export interface Offer {
  /** The telephone number that callers dial. */
  number: string;
  buyer_ids: number[];
}

/** A buyer: its telephone, and fields of its record. */
export interface OfferedBuyer {
  uas: Pick<Uas, 'address'>;
  fields?: Fields;
}

export interface EndedCall {
  call: Fields;
  /** The names of its events, the earliest first; `failed` with the codes and their meaning. */
  events: string[];
}

/** A Kamailio that the service knows as a switch. */
export interface Edge extends Kamailio {
  /** Its name there. */
  name: string;
}

/** A company, the service, Kamailio with the file of the example, and who calls and is called. */
export interface SipWorld {
  world: UsedWorld;
  service: Service;
  kamailio: Edge;
  /** Starts another switch that asks the same service, with these settings in addition. */
  startKamailio(settings: Settings): Promise<Edge>;
  startUas(kind: UasKind): Promise<Uas>;
  startTelephone(options: TelephoneOptions): Promise<Telephone>;
  /** An offer with these buyers, who are dialed in this order, and a number of its own. */
  openOffer(buyers: readonly OfferedBuyer[], fields?: Fields): Promise<Offer>;
  placeCalls(options: Omit<CallOptions, 'proxy'> & { proxy?: number }): Promise<PlacedCalls>;
  /** Waits until the service knows the call, and returns its record. */
  readCall(callId: string): Promise<Fields>;
  /** Waits until the call has ended, or until this event of it. */
  waitForCall(callId: string, event?: string): Promise<EndedCall>;
  /** Waits until a call of this caller is known, and returns its Call-ID. */
  findCallId(callerNumber: string): Promise<string>;
  /** Slots of these buyers that are in use. */
  countSlots(buyerIds: readonly number[]): Promise<number>;
  /** Waits until none is. */
  waitForFreeSlots(buyerIds: readonly number[]): Promise<void>;
}

export async function startService(environment: Record<string, string>): Promise<Service> {
  let running: Running = await startServer(environment);
  const { url } = running;
  const port = new URL(url).port;
  return {
    url,
    pause: () => void running.child.kill('SIGSTOP'),
    resume: () => void running.child.kill('SIGCONT'),
    stop: async () => {
      running.child.kill('SIGCONT');
      await running.end('SIGTERM');
    },
    start: async () => {
      running = await startServer({ ...environment, PORT: port });
    },
  };
}

/** Starts telephones that the settings name. */
type BuildSettings = (sides: Pick<SipWorld, 'startUas'>) => Promise<Settings>;

/** A busy machine is no outage of the service, and no silence of a buyer. */
const PATIENT: Settings = { API_TIMEOUT: 300, SILENCE_MS: 10_000 };

/** As for a usual service, on a machine that may be busy. */
function buildPatientEnvironment(world: UsedWorld): Record<string, string> {
  const url = new URL(world.database.DATABASE_URL!);
  url.searchParams.set('connect_timeout', '60');
  return { ...buildEnvironment(world), DATABASE_URL: url.href, DATABASE_TIMEOUT_SECONDS: '300' };
}

/** Opens a world; whatever is started in it ends with it. */
export async function openSipWorld(
  buildSettings: BuildSettings = async () => ({}),
): Promise<SipWorld> {
  const world = await openWorld();
  const stopLater = <T extends Pick<Side, 'stop'>>(started: T): T => {
    world.closeLater(() => started.stop());
    return started;
  };
  try {
    return await open(world, stopLater, buildSettings);
  } catch (error) {
    await world.close();
    throw error;
  }
}

async function open(
  world: UsedWorld,
  stopLater: <T extends Pick<Side, 'stop'>>(started: T) => T,
  buildSettings: BuildSettings,
): Promise<SipWorld> {
  world.sql = runInTurn(world.sql);
  const service = stopLater(await startService(buildPatientEnvironment(world)));
  const uas = async (kind: UasKind) => stopLater(await startUas(kind));
  const api = new URL('/api/v1', service.url);
  const permissions = ['calls:create', 'calls:read', 'calls:update', 'switches:operate'];
  const keys = await world.credentials(world.company, permissions);
  [api.username, api.password] = keys.split(':') as [string, string];
  const settings = { API: api.href, ...PATIENT, ...(await buildSettings({ startUas: uas })) };
  let switchCount = 0;
  const startEdge = async (more: Settings = {}): Promise<Edge> => {
    const SWITCH = `edge-${++switchCount}`;
    await world.create('switches', { name: SWITCH });
    const started = stopLater(await startKamailio({ ...settings, SWITCH, ...more }));
    return { ...started, name: SWITCH };
  };
  const kamailio = await startEdge();
  const readCall = createCallReader(world, kamailio.log);
  return {
    world,
    service,
    kamailio,
    startKamailio: startEdge,
    startUas: uas,
    startTelephone: async (options) => stopLater(await startTelephone(options)),
    openOffer: (buyers, fields) => openOffer(world, buyers, fields),
    placeCalls: async (options) =>
      stopLater(await placeCalls({ proxy: kamailio.port, ...options })),
    readCall,
    waitForCall: (callId, event) =>
      waitUntil(
        `the end of call ${callId}`,
        async () => {
          const call = await readCall(callId);
          const { call_events } = await world.ok('get', `calls/${call.id as number}/events`);
          const events = (call_events as Fields[]).map(nameEvent);
          const isOver = event ? events.includes(event) : call.ended_at !== null;
          return isOver ? { call, events } : undefined;
        },
        kamailio.log,
      ),
    findCallId: (callerNumber) =>
      waitUntil('a call of the caller', async () => {
        const text =
          'SELECT carrier_call_id AS sid FROM calls WHERE company_id = $1 AND caller_number = $2';
        return (await world.sql<{ sid: string }>(text, [world.company.id, callerNumber]))[0]?.sid;
      }),
    countSlots: (buyerIds) => countSlots(world, buyerIds),
    waitForFreeSlots: async (buyerIds) => {
      const isFree = async () => (await countSlots(world, buyerIds)) === 0 || undefined;
      await waitUntil('no slot is in use', isFree, kamailio.log);
    },
  };
}

/** Returns a function that waits until the service knows a call, and returns its record. */
export const createCallReader =
  (world: UsedWorld, describe: () => string) =>
  async (callId: string): Promise<Fields> => {
    const text = 'SELECT id FROM calls WHERE company_id = $1 AND carrier_call_id = $2';
    const findId = async () => (await world.sql(text, [world.company.id, callId]))[0]?.id;
    const id = await waitUntil(`call ${callId} at the service`, findId, describe);
    return (await world.ok('get', `calls/${id as string}`)).call as Fields;
  };

export async function countSlots(world: UsedWorld, buyerIds: readonly number[]): Promise<number> {
  const buyers = await Promise.all(
    buyerIds.map(async (id) => (await world.ok('get', `buyers/${id}`)).buyer as Fields),
  );
  return buyers.reduce((sum, buyer) => sum + Number(buyer.concurrency_cap_used), 0);
}

function nameEvent({ event, details }: Fields): string {
  if (event !== 'failed') return String(event);
  const { sip_code, q850, reason, hangup_cause } = details as Fields;
  return [event, sip_code, q850, reason ?? hangup_cause].filter(Boolean).join(' ');
}

/** A world has one connection, which takes one statement at a time. */
export function runInTurn(sql: UsedWorld['sql']): UsedWorld['sql'] {
  let last: Promise<unknown> = Promise.resolve();
  return <Row>(text: string, values?: unknown[]) => {
    const rows = last.then(() => sql<Row>(text, values));
    last = rows.catch(() => undefined);
    return rows;
  };
}

export async function openOffer(
  world: UsedWorld,
  buyers: readonly OfferedBuyer[],
  fields: Fields = {},
): Promise<Offer> {
  const buyerIds: number[] = [];
  for (const [index, { uas, fields: more = {} }] of buyers.entries()) {
    const number = uas.address;
    const shown = { name: `Buyer ${index}`, number, tier: index + 1, timeout_seconds: 12 };
    buyerIds.push(await world.create('buyers', { ...shown, concurrency_cap_limit: 100, ...more }));
  }
  const offerId = await world.create('offers', { name: 'Offer', buyer_ids: buyerIds, ...fields });
  const number = world.nextNumber();
  await ownNumber(world, world.company, number.slice(1), offerId);
  return { number, buyer_ids: buyerIds };
}

/** Registers tests of calls over SIP. */
export const testScenarios = (
  scenarios: Record<string, (sip: SipWorld) => Promise<void>>,
  { side_by_side, settings }: { side_by_side: boolean; settings?: BuildSettings },
): void =>
  testTogether(scenarios, {
    title: 'calls over SIP',
    missing: missingPrograms(),
    side_by_side,
    open: () => openSipWorld(settings),
    close: (sip) => sip.world.close(),
    listLogs: (sip) => [sip.kamailio.log()],
  });
