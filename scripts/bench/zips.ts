import { writeFileSync } from 'node:fs';
import type { EmbeddedDatabase } from '../../src/data/postgres/embedded-postgres';
import { loadDecisions, medians, formatFigures, type Figures } from './decisions-load';
import { fillBuyers } from './decisions-world';
import { end, option, waitUntilReady, say, startService } from './tools';
import { copyWorld, dropWorld, prepareWorld, query, type BenchWorld } from './world';

// Lists of ZIP codes: decisions for offers of one buyer each, whose list is short or long. Every
// caller is on the list, so that a whole decision is measured.

const PORT = '4118';
const SECONDS = Number(option('seconds', '8'));
const ROUNDS = Number(option('rounds', '5'));
/** Sizes of the lists; 0 for a buyer without a list. */
const LISTS = [0, 100, 50_000];
const FIRST = 10_000;
const WARM_SECONDS = 3;

/** Creates an offer with one buyer and the buyer's list; returns the id of the offer. */
async function fillOffer({ url, company_id, first_id }: BenchWorld, zips: number): Promise<string> {
  const [offer] = (await query(
    url,
    `WITH list AS (
        INSERT INTO value_lists (company_id, uuid, name, key, kind, values_count)
        SELECT $1, uuidv7(), $2 || ' zips', $2 || ' zips', 'zip_codes', $3::int
        WHERE $3::int > 0
        RETURNING id
      ),
      listed AS (
        INSERT INTO list_values (company_id, value_list_id, value)
        SELECT $1, list.id, lpad((${FIRST} + n)::text, 5, '0')
        FROM list, generate_series(0, $3::int - 1) n
      ),
      buyer AS (
        UPDATE buyers SET zip_list_id = (SELECT id FROM list)
        WHERE company_id = $1 AND id = $4::bigint + $5::int
        RETURNING id
      ),
      offer AS (
        INSERT INTO offers (company_id, uuid, name, time_zone, lead_token)
        VALUES ($1, uuidv7(), 'Offer of ' || $2, 'America/New_York', md5(random()::text))
        RETURNING id
      )
      INSERT INTO offer_buyers (company_id, offer_id, buyer_id)
      SELECT $1, offer.id, buyer.id
      FROM offer, buyer
      RETURNING offer_id`,
    [company_id, String(zips), zips, first_id, LISTS.indexOf(zips)],
  )) as { offer_id: string }[];
  return offer!.offer_id;
}

const load = (
  world: BenchWorld,
  {
    offer_id,
    zips,
    seconds,
    pid,
  }: { offer_id: string; zips: number; seconds: number; pid: number },
) =>
  loadDecisions(world, {
    port: PORT,
    seconds,
    pid,
    connections: 1,
    call: () => ({
      offer_id,
      tokens: { state: 'CA', zip: String(FIRST + Math.floor(Math.random() * zips)) },
    }),
  });

export async function benchZips(server: EmbeddedDatabase): Promise<void> {
  const world = await copyWorld(server, await prepareWorld(server, 10_000), 'bench_zips');
  await fillBuyers(world);
  const offers = new Map<number, string>();
  for (const zips of LISTS) offers.set(zips, await fillOffer(world, zips));
  await query(world.url, 'VACUUM ANALYZE');
  const service = startService(world.url, PORT, { RUN_JOBS: 'false' });
  try {
    await waitUntilReady(PORT);
    const turns = new Map(LISTS.map((zips) => [zips, [] as Figures[]]));
    const measure = (zips: number, seconds: number) =>
      // A buyer without a list gets the callers of the short one.
      load(world, { offer_id: offers.get(zips)!, zips: zips || 100, seconds, pid: service.pid! });
    for (const zips of LISTS) await measure(zips, WARM_SECONDS);
    for (let turn = 0; turn < ROUNDS; turn++)
      for (const zips of LISTS) turns.get(zips)!.push(await measure(zips, SECONDS));
    const report = [...turns].map(([zips, all]) => ({ zips, ...medians(all) }));
    for (const { zips, ...figures } of report)
      say(formatFigures(`decisions, ${zips.toLocaleString('en')} ZIP codes`, figures));
    writeFileSync(
      '.bench/zips.json',
      JSON.stringify({ seconds: SECONDS, rounds: ROUNDS, report }, null, 2),
    );
  } finally {
    await end([service]);
    await dropWorld(server, 'bench_zips');
  }
}
