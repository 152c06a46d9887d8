import { writeFileSync } from 'node:fs';
import { CAPS } from '../../src/domain/caps/caps';
import type { EmbeddedDatabase } from '../../src/data/postgres/embedded-postgres';
import { loadDecisions, medians, formatFigures, type Figures } from './decisions-load';
import { fillBuyers, fillOffer } from './decisions-world';
import { end, option, waitUntilReady, round, say, startService } from './tools';
import { copyWorld, dropWorld, prepareWorld, query, type BenchWorld } from './world';

// The cost that caps of traffic sources and balances of buyers add to a decision.

const PORT = '4119';
const SECONDS = Number(option('seconds', '8'));
const ROUNDS = Number(option('rounds', '5'));
const BUYERS = 1_000;
const CONNECTIONS = [1, 16];
const WARM_SECONDS = 3;
/** More than the bench uses. */
const PLENTY = 1_000_000_000;

const SOURCES = 20;

/** Creates traffic sources with every cap and, as the last, one without caps; returns their ids. */
async function fillSources({ url, company_id }: BenchWorld): Promise<number[]> {
  const rows = (await query(
    url,
    `INSERT INTO traffic_sources (company_id, uuid, name)
      SELECT $1, uuidv7(), 'Source ' || n FROM generate_series(0, $2::int) n
      RETURNING id`,
    [company_id, SOURCES],
  )) as { id: string }[];
  const ids = rows.map(({ id }) => Number(id));
  const limits = [...CAPS.map(({ limit }) => limit), 'concurrency_cap_limit'];
  await query(
    url,
    `INSERT INTO call_limits (company_id, traffic_source_id, zone, ${limits.join(', ')})
      SELECT $1, id, 'America/New_York', ${limits.map(() => String(PLENTY)).join(', ')}
      FROM unnest($2::bigint[]) id`,
    [company_id, ids.slice(0, SOURCES)],
  );
  return ids;
}

/** Makes the buyers of an offer prepaid. */
const fillBalances = ({ url, company_id }: BenchWorld, offerId: string) =>
  query(
    url,
    `UPDATE call_limits l SET balance = $3::int
      FROM offer_buyer_groups o
      JOIN buyer_group_members m USING (company_id, buyer_group_id)
      WHERE o.company_id = $1 AND o.offer_id = $2
        AND l.company_id = m.company_id AND l.buyer_id = m.buyer_id`,
    [company_id, offerId, PLENTY],
  );

type Kinds = [string, () => { offer_id: string; traffic_source_id?: number }][];

async function fillWorld(world: BenchWorld): Promise<Kinds> {
  await fillBuyers(world);
  const offerId = await fillOffer(world, BUYERS);
  const prepaid = await fillOffer(world, BUYERS, BUYERS);
  const sources = await fillSources(world);
  await fillBalances(world, prepaid);
  await query(world.url, 'VACUUM ANALYZE');
  const any = () => sources[Math.floor(Math.random() * SOURCES)]!;
  return [
    ['a source without caps', () => ({ offer_id: offerId, traffic_source_id: sources.at(-1)! })],
    ['one source with every cap', () => ({ offer_id: offerId, traffic_source_id: sources[0]! })],
    [`${SOURCES} sources with every cap`, () => ({ offer_id: offerId, traffic_source_id: any() })],
    ['no source', () => ({ offer_id: offerId })],
    ['no source, prepaid buyers', () => ({ offer_id: prepaid })],
    ['the 20, prepaid buyers', () => ({ offer_id: prepaid, traffic_source_id: any() })],
  ];
}

export async function benchSources(server: EmbeddedDatabase): Promise<void> {
  const world = await copyWorld(server, await prepareWorld(server, 10_000), 'bench_sources');
  const kinds = await fillWorld(world);
  const service = startService(world.url, PORT, { RUN_JOBS: 'false' });
  const report: ({ what: string; of_plain: number } & Figures)[] = [];
  try {
    await waitUntilReady(PORT);
    const tokens = { state: 'CA' };
    for (const connections of CONNECTIONS) {
      const measure = ([, fields]: Kinds[number], seconds: number) => {
        const call = () => ({ ...fields(), tokens });
        return loadDecisions(world, { port: PORT, pid: service.pid!, connections, seconds, call });
      };
      const turns = kinds.map(() => [] as Figures[]);
      for (const kind of kinds) await measure(kind, WARM_SECONDS);
      for (let turn = 0; turn < ROUNDS; turn++)
        for (const [n, kind] of kinds.entries()) turns[n]!.push(await measure(kind, SECONDS));
      const plain = medians(turns[0]!).req_s;
      for (const [n, [kind]] of kinds.entries()) {
        const figures = medians(turns[n]!);
        const what = `decisions, ${kind}, ${connections} connections`;
        const ofPlain = round(figures.req_s / plain, 3);
        say(`${formatFigures(what, figures)}  ${ofPlain} of the first`);
        report.push({ what, of_plain: ofPlain, ...figures });
      }
    }
    writeFileSync(
      '.bench/sources.json',
      JSON.stringify({ seconds: SECONDS, rounds: ROUNDS, report }, null, 2),
    );
  } finally {
    await end([service]);
    await dropWorld(server, 'bench_sources');
  }
}
