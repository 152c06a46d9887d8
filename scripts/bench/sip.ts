import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EmbeddedDatabase } from '../../src/data/postgres/embedded-postgres';
import { startKamailio, type Kamailio } from '../../tests/sip/support/kamailio';
import { missingPrograms } from '../../tests/sip/support/programs';
import { openProbe, type Probe, type SipTimes } from './sip-probe';
import { openStormOffer, openStormWorld } from './storm-world';
import { end, option, percentile, round, say, startService, waitUntilReady } from './tools';
import { dropWorld, query, type BenchWorld } from './world';

// Calls that arrive over SIP: from the INVITE of the caller to that of the buyer, through the
// Kamailio of examples/kamailio/ which asks the service, and through Kamailio alone, in turns.

const PORT = '4134';
const BUYERS = 5;
const RATE = Number(option('rate', '20'));
const SECONDS = Number(option('seconds', '20'));
const ROUNDS = Number(option('rounds', '3'));
const WARM_SECONDS = 5;
const NUMBER = '+12125550100';

type Contender = 'alone' | 'asking';

/** The switch, an offer whose buyers are all at the address of the probe, and its number. */
async function openOffer(world: BenchWorld, address: string): Promise<void> {
  const offerId = await openStormOffer(world, { kind: 'no caps', buyers: BUYERS, skip: 0 });
  const { url, company_id, first_id } = world;
  await query(url, "INSERT INTO switches (company_id, uuid, name) VALUES ($1, uuidv7(), 'edge')", [
    company_id,
  ]);
  await query(url, 'UPDATE buyers SET number = $2 WHERE company_id = $1 AND id < $3', [
    ...[company_id, address, first_id + BUYERS],
  ]);
  const [row] = await query(
    url,
    `INSERT INTO numbers (company_id, uuid, phone_number, country, carrier, offer_id)
      VALUES ($1, uuidv7(), $2, 'US', 'sandbox', $3) RETURNING id`,
    [company_id, NUMBER.slice(1), offerId],
  );
  await query(
    url,
    'INSERT INTO number_lookups (phone_number, company_id, number_id) VALUES ($1, $2, $3)',
    [NUMBER.slice(1), company_id, row!.id],
  );
}

async function measure(
  probe: Probe,
  contenders: Record<Contender, Kamailio>,
): Promise<Record<Contender, SipTimes>> {
  const measured: Record<Contender, SipTimes> = {
    alone: { times: [], errors: 0 },
    asking: { times: [], errors: 0 },
  };
  for (let turn = 0; turn <= ROUNDS; turn++)
    for (const name of ['alone', 'asking'] as const) {
      // The first turn warms up.
      const count = RATE * (turn === 0 ? WARM_SECONDS : SECONDS);
      const load = { proxy: contenders[name].port, number: NUMBER, rate: RATE, count };
      const { times, errors } = await probe.placeCalls(load);
      if (turn === 0) continue;
      measured[name].times.push(...times);
      measured[name].errors += errors;
    }
  return measured;
}

function report({ alone, asking }: Record<Contender, SipTimes>): void {
  const summarize = ({ times, errors }: SipTimes) => ({
    calls: times.length,
    errors,
    p50_ms: round(percentile(times, 0.5), 1),
    p99_ms: round(percentile(times, 0.99), 1),
  });
  const [without, withService] = [summarize(alone), summarize(asking)];
  const added = {
    p50_ms: round(withService.p50_ms - without.p50_ms, 1),
    p99_ms: round(withService.p99_ms - without.p99_ms, 1),
  };
  say(`INVITE to INVITE, ${RATE} calls a second (p50 / p99):`);
  say(`  Kamailio alone   ${without.p50_ms} / ${without.p99_ms} ms, ${without.errors} errors`);
  say(
    `  with the service ${withService.p50_ms} / ${withService.p99_ms} ms, ` +
      `${withService.errors} errors`,
  );
  say(`  difference       ${added.p50_ms} / ${added.p99_ms} ms`);
  const figures = { rate: RATE, seconds: SECONDS, rounds: ROUNDS };
  writeFileSync(
    '.bench/sip.json',
    JSON.stringify({ ...figures, alone: without, asking: withService, added }, null, 2),
  );
}

export async function benchSip(server: EmbeddedDatabase): Promise<void> {
  const missing = missingPrograms();
  if (missing) return say(`sip is left out: ${missing}`);
  const world = await openStormWorld(server, 'bench_sip');
  const probe = await openProbe();
  const running: Kamailio[] = [];
  const services = [startService(world.url, PORT)];
  try {
    await openOffer(world, probe.buyer);
    await waitUntilReady(PORT);
    const api = `http://${world.auth}@127.0.0.1:${PORT}/api/v1`;
    const asking = await startKamailio({ API: api, API_TIMEOUT: 30 });
    running.push(asking);
    const alone = await startKamailio(
      { BUYER: probe.buyer },
      join(process.cwd(), 'scripts/bench/sip-direct.cfg'),
    );
    running.push(alone);
    report(await measure(probe, { alone, asking }));
  } finally {
    probe.close();
    await Promise.all(running.map((kamailio) => kamailio.stop()));
    await end(services);
    await dropWorld(server, 'bench_sip');
  }
}
