import type { standingClock } from './clock';
import { ownNumber } from './leads';
import { twimlCaller, type Played } from './twiml-caller';
import type { World } from './world';

type Fields = Record<string, unknown>;

export interface Bought {
  id: number;
  number: string;
}

let next = 100;

/** Buyers, offers and a number of the company, called through a carrier with TwiML. */
export function switchboard(world: World, time: ReturnType<typeof standingClock>) {
  const companyNumber = `+1212777${String(next++).padStart(4, '0')}`;
  const ok = async (method: 'get' | 'post' | 'put', path: string, body?: Fields) => {
    const res = await world.company.api(method, path, body ? { body } : {});
    if (res.status >= 300) throw new Error(`${path}: ${res.text}`);
    return res.body;
  };
  const buyer = async (fields: Fields = {}): Promise<Bought> => {
    const number = `+1212555${String(next++).padStart(4, '0')}`;
    const pays = { current_conversion_revenue: 10, current_conversion_duration: 5 };
    return (
      await ok('post', 'buyers', {
        name: `Buyer ${next}`,
        number,
        timeout_seconds: 30,
        ...pays,
        ...fields,
      })
    ).buyer;
  };
  /** An offer of these buyers whose number is called. */
  const offer = async (buyers: Bought[], fields: Fields = {}): Promise<number> => {
    const { id } = (
      await ok('post', 'offers', {
        name: 'Auto',
        buyer_ids: buyers.map((boughtBuyer) => boughtBuyer.id),
        ...fields,
      })
    ).offer;
    await ownNumber(world, world.company, companyNumber.slice(1), id);
    return id;
  };
  /** An offer of a group that rings these buyers all at once. */
  const atOnce = async (buyers: Bought[]): Promise<void> => {
    const group = await ok('post', 'buyer_groups', {
      name: 'All',
      dial_buyers_type: 'simultaneously',
      buyer_ids: buyers.map(({ id }) => id),
    });
    await offer([], { buyer_group_ids: [group.buyer_group.id] });
  };
  const loadCall = async ({ sid }: Pick<Played, 'sid'>) => {
    const text = 'SELECT * FROM calls WHERE company_id = $1 AND carrier_call_id = $2';
    return (
      await world.sql<Fields & { id: string; uuid: string }>(text, [world.company.id, sid])
    )[0]!;
  };
  const attempts = async (played: Pick<Played, 'sid'>): Promise<string[]> => {
    const rows = await world.sql<{ status: string }>(
      'SELECT status FROM call_attempts WHERE call_id = $1 ORDER BY id',
      [(await loadCall(played)).id],
    );
    return rows.map(({ status }) => status);
  };
  /** Usage of a buyer's caps: attempts, connections, conversions, concurrency. */
  const counts = async ({ id }: Bought): Promise<number[]> => {
    const { buyer: shownBuyer } = await ok('get', `buyers/${id}`);
    return [
      shownBuyer.attempt_total_used,
      shownBuyer.connection_total_used,
      shownBuyer.buyer_conversion_total_used,
      shownBuyer.concurrency_cap_used,
    ];
  };
  const slots = async () =>
    (await world.sql('SELECT FROM call_slots WHERE company_id = $1', [world.company.id])).length;
  return {
    companyNumber,
    ok,
    buyer,
    offer,
    atOnce,
    loadCall,
    attempts,
    counts,
    slots,
    ...twimlCaller(world, time),
  };
}
