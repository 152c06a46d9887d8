import type { Request, Response } from 'express';
import { contract } from '../../src/platform/contract/contract';
import { loadConfig } from '../../src/main/config';
import { createDeps } from '../../src/operate/installation/deps';
import { list } from '../../src/api/records/list';
import { readRecord, recordReply, show } from '../../src/api/records/record';
import { findReader } from '../../src/api/request/reader';
import { orders, projection } from '../../src/domain/buyers/buyers-columns';
import { PEPPER, type BenchWorld } from './world';

interface Part {
  part: string;
  microseconds: number;
}

/**
 * Measures how long a request for one buyer spends in each part of the service, in one process and
 * without concurrency.
 */
export async function measureParts(world: BenchWorld): Promise<Part[]> {
  const deps = createDeps({
    config: loadConfig({ KEY_PEPPER: PEPPER, LOG_LEVEL: 'silent' }),
    database_url: world.url,
  });
  const operation = contract.operations.find(({ id }) => id === 'showBuyer')!;
  const authorization = `Basic ${Buffer.from(world.auth).toString('base64')}`;
  const req = () =>
    ({
      method: 'GET',
      originalUrl: '/api/v1/buyers/1',
      url: '/api/v1/buyers/1',
      headers: { authorization },
      query: {},
      params: { id: '1' },
    }) as unknown as Request;
  const res = { locals: {} } as Response;
  const db = deps.tenants.of(BigInt(world.company_id));
  const now = new Date();
  const record = await readRecord({ db, now, projection }, world.first_id);
  const parts = {
    'authentication (digest, kept credentials)': () =>
      deps.authenticator.callerOutsideBody(req(), operation),
    'reading and validation (express-openapi-validator)': () =>
      findReader(operation)({ req: req(), res, lead_token: undefined, ignored: undefined }),
    'serialising (envelope and checksum, show)': async () => void recordReply(projection, record),
    'data (statement alone, show)': () => readRecord({ db, now, projection }, world.first_id),
    'data and envelope, show': () =>
      show({ db, now, projection, if_none_match: undefined }, world.first_id),
    'data and envelope, list of 25': () =>
      list({ page: 1, per_page: 25, root: true }, { db, now, projection, orders }),
  };
  const measured: Part[] = [];
  for (const [part, run] of Object.entries(parts)) {
    const rounds = part.startsWith('data') ? 1_000 : 20_000;
    for (let i = 0; i < rounds / 10; i++) await run();
    const started = process.hrtime.bigint();
    for (let i = 0; i < rounds; i++) await run();
    measured.push({
      part,
      microseconds: Math.round(Number(process.hrtime.bigint() - started) / 1000 / rounds),
    });
  }
  await deps.database.close();
  return measured;
}
