import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Pool, type PoolClient } from 'pg';
import { projection } from '../../src/domain/buyers/buyers-columns';
import {
  cachedCount,
  keysTemplate,
  pageTemplate,
  recordsTemplate,
  toListRows,
  type ListShape,
} from '../../src/data/projection/list-statements';
import { recordTemplate } from '../../src/data/projection/record-statements';

// The floor: node:http and prepared statements with the SQL of the service, without authentication,
// validation or log.

const { BENCH_URL, BENCH_COMPANY, BENCH_PORT } = process.env;
const pool = new Pool({ connectionString: BENCH_URL, max: 16, options: '-c timezone=UTC' });
const companyId = BENCH_COMPANY;

const shape = (more: Partial<ListShape> = {}): ListShape => ({
  conditions: [],
  sort: 'key',
  descending: false,
  limit: 26,
  offset: 0,
  total: { sql: cachedCount('buyers') },
  ...more,
});
const rows = toListRows(projection, {});
const fourColumns = toListRows(projection, { columns: ['id', 'name', 'number', 'paused'] });
const all = pageTemplate(rows, shape());
const four = pageTemplate(fourColumns, shape());
const keysQuery = keysTemplate(
  rows,
  shape({ conditions: [`${projection.fulltext} LIKE {fulltext}`], total: 'counted' }),
);
const records = recordsTemplate(rows);
const recordQuery = recordTemplate(projection, 'id', {});
const now = () => new Date().toISOString();

async function page(make: typeof all): Promise<string> {
  return envelope((await pool.query(make({ company_id: companyId, now: now() }))).rows);
}

async function search(text: string): Promise<string> {
  const keys = (await pool.query(keysQuery({ company_id: companyId, fulltext: `%${text}%` }))).rows;
  const ids = keys.slice(0, 25).flatMap(({ id }) => (id === null ? [] : [id]));
  const { rows } = await pool.query(records({ company_id: companyId, now: now(), ids }));
  return envelope(rows.map((row) => ({ ...row, total: keys[0].total })));
}

function envelope(rows: { total: number; record: string | null; id: string }[]): string {
  const shown = rows.filter(({ record }) => record !== null).slice(0, 25);
  const metadata = {
    root: 'buyers',
    page: 1,
    total_pages: Math.ceil((rows[0]?.total ?? 0) / 25),
    per_page: 25,
    total_count: Number(rows[0]?.total ?? 0),
    next_cursor: Number(shown.at(-1)?.id ?? 0),
  };
  const records = shown.map(({ record }) => record).join(',');
  const end = `"metadata":${JSON.stringify(metadata)}}`;
  return `{"status":200,"success":true,"buyers":[${records}],${end}`;
}

async function show(id: string): Promise<string> {
  const { rows } = await pool.query(recordQuery({ company_id: companyId, now: now(), id }));
  const checksum = createHash('md5').update(rows[0].record).digest('hex');
  const end = `"checksum":"${checksum}","metadata":{"root":"buyer"}}`;
  return `{"status":200,"success":true,"errors":{},"buyer":${rows[0].record},${end}`;
}

const INSERT_BUYER = `INSERT INTO buyers (company_id, uuid, name, number, buyer_type, time_zone,
  paused, timeout_seconds, record_calls, press_one_to_accept, route_by_type, tier, weight,
  display_caller_id_type)
  VALUES ($1, gen_random_uuid(), $2, $3, 'buyer', 'America/New_York', false, 120, false, false,
    'tier', 1, $4, 'display_caller_id')
  RETURNING id`;

async function create(body: {
  name: string;
  number: string;
  weight: number;
  attempt_daily_limit: number;
}): Promise<string> {
  const id = await transaction(async (client) => {
    const { rows } = await client.query({
      name: 'insert_buyer',
      text: INSERT_BUYER,
      values: [companyId, body.name, body.number, body.weight],
    });
    await client.query({
      name: 'insert_limits',
      text: `INSERT INTO call_limits (company_id, buyer_id, zone, attempt_daily_limit)
        VALUES ($1, $2, 'America/New_York', $3)`,
      values: [companyId, rows[0].id, body.attempt_daily_limit],
    });
    await client.query({
      name: 'count',
      text: `INSERT INTO record_counts (company_id, resource, slot, n)
        VALUES ($1, 'buyers', $2, 1)
        ON CONFLICT (company_id, resource, slot)
        DO UPDATE SET n = record_counts.n + 1`,
      values: [companyId, Math.floor(Math.random() * 16)],
    });
    return rows[0].id as string;
  });
  return show(id);
}

async function transaction<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    client.release();
    return result;
  } catch (error) {
    client.release(true);
    throw error;
  }
}

async function update(
  id: string,
  body: { name: string; tier: number; attempt_daily_limit: number },
): Promise<string> {
  await transaction(async (client) => {
    await client.query({
      name: 'lock',
      text: `SELECT id
        FROM buyers
        WHERE company_id = $1 AND id = $2 AND deleted_at IS NULL FOR UPDATE`,
      values: [companyId, id],
    });
    await client.query({
      name: 'update_buyer',
      text: `UPDATE buyers SET name = $3, tier = $4, updated_at = now(), user_updated_at = now()
        WHERE company_id = $1 AND id = $2`,
      values: [companyId, id, body.name, body.tier],
    });
    await client.query({
      name: 'update_limits',
      text: `UPDATE call_limits SET attempt_daily_limit = $3
        WHERE company_id = $1 AND buyer_id = $2`,
      values: [companyId, id, body.attempt_daily_limit],
    });
  });
  return show(id);
}

async function read(req: IncomingMessage): Promise<never> {
  let text = '';
  for await (const chunk of req) text += chunk;
  return JSON.parse(text) as never;
}

async function reply(req: IncomingMessage): Promise<string> {
  const url = new URL(req.url ?? '/', 'http://x');
  const id = url.pathname.split('/')[4];
  if (url.pathname === '/livez' || url.pathname === '/api/v1/me') return '{"me":{}}';
  if (req.method === 'POST') return create(await read(req));
  if (req.method === 'PUT') return update(id!, await read(req));
  if (id) return show(id);
  const text = url.searchParams.get('fulltext');
  if (text) return search(text);
  return page(url.searchParams.has('columns') ? four : all);
}

createServer((req: IncomingMessage, res: ServerResponse) => {
  reply(req).then(
    (text) =>
      res
        .writeHead(200, {
          'Content-Type': 'application/json',
          'Content-Length': Buffer.byteLength(text),
        })
        .end(text),
    (error: Error) => res.writeHead(500).end(error.message),
  );
}).listen(Number(BENCH_PORT), '127.0.0.1');
