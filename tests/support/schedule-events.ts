import { applyCalls } from '../../src/domain/leads/apply-calls';
import { startTriggered } from '../../src/domain/leads/start-triggered';
import { standingClock } from './clock';
import { NOON, runEngine, buildScheduleHelpers, SMS, wait } from './leads';
import { createWorld, type World } from './world';

export let world: World;
export const time = standingClock(NOON);
export const schedules = buildScheduleHelpers(() => world, time);
const { ok } = schedules;

/** Opens the world of these tests before they run; each has a company of its own. */
export function setUp(): void {
  beforeAll(async () => {
    world = await createWorld({ clock: time.read, environment: { DATABASE_POOL_SIZE: '20' } });
  });
  beforeEach(async () => {
    time.set(NOON);
    world.company = await world.addCompany();
  });
  afterAll(() => world.close());
}

export const ANN = '+13105550123';
export type Fields = Record<string, unknown>;

/** A buyer who answers the calls of an offer. */
export async function addBuyer(offer: number): Promise<void> {
  const { buyer } = await ok('post', 'buyers', { number: '+12125550101' });
  await ok('put', `offers/${offer}`, { buyer_ids: [buyer.id] });
}
export const call = async (offerId: number, callerNumber = ANN) =>
  (await ok('post', 'call_sessions', { offer_id: offerId, caller_number: callerNumber }))
    .call_session as {
    id: number;
    uuid: string;
  };
export const report = (id: number, event: string) =>
  ok('post', `call_sessions/${id}/events`, { event });
export const convert = (uuid: string) =>
  ok('post', `calls/update_call/${uuid}`, { buyer_converted: true });
export const text = (body: string, from = ANN) =>
  ok('post', 'text_messages/receive', { from, to: '+12125550100', body });
export const loadLead = async (id: number) => (await ok('get', `leads/${id}`)).lead;
export const listLeads = async (schedule: number) =>
  (await world.company.api('get', 'leads', { query: { schedule_id: schedule } })).body.leads as {
    id: number;
    caller_id: string;
    status: string;
    data: Fields;
    offer_id: number;
    email: string | null;
  }[];
/** Runs the background work until nothing of it is left. */
export async function settle(): Promise<void> {
  while ((await applyCalls(world.deps.database.pool, time.read())) > 0);
  for (let n = 0; n < 50; n++) {
    const events = await startTriggered(world.deps);
    if ((await runEngine(world)) + events === 0) return;
  }
  throw new Error('the schedules start each other without end');
}

export const NAG = [SMS, wait(1), { ...SMS, body: 'Again' }];
export const BYE = { ...SMS, body: 'Bye', end: true };
