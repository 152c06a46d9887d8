import type { StandingClock } from './clock';
import { ownNumber } from './leads';
import { nextNumber, type Fields } from './records';
import { requests } from './requests';
import { twimlCaller, type Played, type PlayedCarrier } from './twiml-caller';
import type { World } from './world';

export interface Bought {
  id: number;
  number: string;
}

const PAYS = { current_conversion_revenue: 10, current_conversion_duration: 5 };

/** Buyers, offers and a number of the company, called through a carrier with TwiML. */
export function switchboard(world: World, time: StandingClock, carrier?: PlayedCarrier) {
  const companyNumber = nextNumber('+1212777');
  const { ok, create, createRecord } = requests(() => world.company);
  const buyer = (fields: Fields = {}): Promise<Bought> => {
    const number = nextNumber();
    const body = { name: `Buyer ${number}`, number, timeout_seconds: 30, ...PAYS, ...fields };
    return createRecord('buyers', body);
  };
  /** An offer of these buyers whose number is called. */
  const offer = async (buyers: Bought[], fields: Fields = {}): Promise<number> => {
    const buyerIds = buyers.map(({ id }) => id);
    const offerId = await create('offers', { name: 'Auto', buyer_ids: buyerIds, ...fields });
    await ownNumber(world, world.company, companyNumber.slice(1), offerId);
    return offerId;
  };
  /** An offer of a group that rings these buyers all at once. */
  const atOnce = async (buyers: Bought[]): Promise<void> => {
    const group = await create('buyer_groups', {
      name: 'All',
      dial_buyers_type: 'simultaneously',
      buyer_ids: buyers.map(({ id }) => id),
    });
    await offer([], { buyer_group_ids: [group] });
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
    const caps = ['attempt_total', 'connection_total', 'buyer_conversion_total', 'concurrency_cap'];
    return caps.map((cap) => shownBuyer[`${cap}_used`]);
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
    ...twimlCaller(world, time, carrier),
  };
}
