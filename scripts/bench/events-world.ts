import type { EmbeddedDatabase } from '../../src/data/postgres/embedded-postgres';
import { fillBuyers, fillOffer } from './decisions-world';
import { copyWorld, prepareWorld, query, type BenchWorld } from './world';

/** Revenue and payout of a call that lasts `after_seconds`. */
export const CONVERSION = { revenue: 24.5, payout: 12, after_seconds: 90 };

export interface EventsWorld {
  world: BenchWorld;
  offer_id: string;
  traffic_source_id: string;
}

/**
 * Opens a world with an offer of `buyers` buyers in groups of ten, who accept a call by pressing 1
 * and pay for it after 90 seconds, and a traffic source that is paid for each conversion.
 */
export async function openEventsWorld(
  server: EmbeddedDatabase,
  name: string,
  buyers: number,
): Promise<EventsWorld> {
  const world = await copyWorld(server, await prepareWorld(server, 10_000), name);
  await fillBuyers(world);
  const opened = { world, ...(await openOffer(world, buyers)) };
  await query(world.url, 'VACUUM ANALYZE');
  return opened;
}

export async function openOffer(
  world: BenchWorld,
  buyers: number,
): Promise<{ offer_id: string; traffic_source_id: string }> {
  const { url, company_id } = world;
  await query(url, 'UPDATE buyers SET press_one_to_accept = true WHERE company_id = $1', [
    company_id,
  ]);
  await query(
    url,
    `UPDATE buyer_conversions SET revenue = $2, duration = $3, duplicate_timeframe = 0
      WHERE company_id = $1`,
    [company_id, CONVERSION.revenue, CONVERSION.after_seconds],
  );
  const offerId = await fillOffer(world, buyers);
  const payouts = [
    { payout_type: 'fixed', amount: CONVERSION.payout, paid_for: 'buyer_conversion' },
  ];
  await query(url, 'UPDATE offers SET payouts = $3 WHERE company_id = $1 AND id = $2', [
    company_id,
    offerId,
    JSON.stringify(payouts),
  ]);
  const [source] = await query(
    url,
    `INSERT INTO traffic_sources (company_id, uuid, name) VALUES ($1, uuidv7(), 'Ads')
      RETURNING id`,
    [company_id],
  );
  return { offer_id: offerId, traffic_source_id: String(source!.id) };
}
