import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Pool } from 'pg';
import { uuidv7 } from '../../src/data/uuid';

// The floor of submissions: node:http and one prepared statement that writes the lead. It neither
// checks the token, the number or the values, nor looks up the number or the history of the lead,
// and it returns no record.

const { BENCH_URL, BENCH_COMPANY, BENCH_OFFER, BENCH_SCHEDULE, BENCH_PORT } = process.env;
const pool = new Pool({ connectionString: BENCH_URL, max: 16, options: '-c timezone=UTC' });

const SUBMIT = `INSERT INTO leads (company_id, offer_id, schedule_id, uuid, caller_number, email,
  data, remote_ip, zones, status,
    created_at, updated_at, user_updated_at, first_queued_at, entered_at, next_action_at, due_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, '{America/New_York}', 'scheduled', $9, $9, $9, $9, $9, $9,
    $9)
  ON CONFLICT (company_id, schedule_id, caller_number) WHERE is_live AND schedule_id IS NOT NULL
    DO UPDATE SET data = leads.data || excluded.data, email = excluded.email, remote_ip =
      excluded.remote_ip, updated_at = excluded.updated_at, user_updated_at =
      excluded.user_updated_at
  RETURNING id, xmax = 0 AS created`;

async function submit(req: IncomingMessage): Promise<{ status: number; text: string }> {
  const { lead_token, caller_id, email, ...data } = Object.fromEntries(
    new URLSearchParams(req.url!.split('?')[1]),
  );
  void lead_token;
  const values = [
    BENCH_COMPANY,
    BENCH_OFFER,
    BENCH_SCHEDULE,
    uuidv7(),
    Number(`1${caller_id}`),
    email,
    JSON.stringify(data),
    req.socket.remoteAddress,
    new Date().toISOString(),
  ];
  const { rows } = await pool.query({ name: 'submit', text: SUBMIT, values });
  const status = rows[0].created ? 201 : 200;
  return { status, text: JSON.stringify({ status, success: true, id: Number(rows[0].id) }) };
}

createServer((req: IncomingMessage, res: ServerResponse) => {
  const reply = req.method === 'POST' ? submit(req) : Promise.resolve({ status: 200, text: '{}' });
  reply.then(
    ({ status, text }) =>
      res
        .writeHead(status, {
          'Content-Type': 'application/json',
          'Content-Length': Buffer.byteLength(text),
        })
        .end(text),
    (error: Error) => res.writeHead(500).end(error.message),
  );
}).listen(Number(BENCH_PORT), '127.0.0.1');
