import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, statSync } from 'node:fs';
import { request } from 'node:http';
import { pipeline } from 'node:stream/promises';
import autocannon from 'autocannon';
import type { Client } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { BenchWorld } from './world';

export const PORT = '4104';
const HAS_PSQL = spawnSync('psql', ['--version']).status === 0;

export class ImportClient {
  constructor(
    private readonly world: BenchWorld,
    readonly client: Client,
    private readonly port = PORT,
  ) {}

  private headers(): Record<string, string> {
    return { Authorization: `Basic ${Buffer.from(this.world.auth).toString('base64')}` };
  }

  async clearNumbers(): Promise<void> {
    await this.client.query('TRUNCATE buyer_suppression_numbers');
    await this.client.query('UPDATE buyer_suppressions SET blocked = 0');
    await this.settle();
  }

  async settle(): Promise<void> {
    await this.client.query('CHECKPOINT');
  }

  async createList(): Promise<number> {
    const headers = { ...this.headers(), 'Content-Type': 'application/json' };
    const res = await fetch(`http://127.0.0.1:${this.port}/api/v1/buyer_suppressions`, {
      method: 'POST',
      headers,
      body: '{"name":"Bench"}',
    });
    return ((await res.json()) as { buyer_suppression: { id: number } }).buyer_suppression.id;
  }

  /** Returns the seconds of a \copy into an empty table with the same primary key. */
  async floor(clean: string): Promise<number> {
    await this.client.query(
      `DROP TABLE IF EXISTS bench_floor; CREATE TABLE bench_floor (company_id bigint NOT NULL, ` +
        `buyer_suppression_id bigint NOT NULL, number bigint NOT NULL, PRIMARY KEY (company_id, ` +
        `buyer_suppression_id, number))`,
    );
    await this.settle();
    const started = performance.now();
    if (HAS_PSQL) {
      const { status, stderr } = spawnSync('psql', [
        this.world.url,
        '-q',
        '-c',
        String.raw`\copy bench_floor from '${clean}'`,
      ]);
      if (status !== 0) throw new Error(String(stderr));
    } else
      await pipeline(
        createReadStream(clean),
        this.client.query(copyFrom('COPY bench_floor FROM STDIN')),
      );
    return (performance.now() - started) / 1000;
  }

  /** Uploads a file and returns the id of its record and when its last byte was sent. */
  async upload(list: number, csv: string, verb: string): Promise<{ sent_at: number; id: number }> {
    const part = (name: string, value: string) =>
      `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
    const head =
      part('buyer_suppression_id', String(list)) +
      part('apply_block_or_unblock', verb) +
      '--b\r\nContent-Disposition: ' +
      `form-data; name="import_file"; filename="a.csv"\r\n\r\n`;
    const tail = '\r\n--b--\r\n';
    const headers = {
      ...this.headers(),
      'Content-Type': 'multipart/form-data; boundary=b',
      'Content-Length': head.length + statSync(csv).size + tail.length,
    };
    const req = request(`http://127.0.0.1:${this.port}/api/v1/buyer_suppression_files`, {
      method: 'POST',
      headers,
    });
    const answered = once(req, 'response');
    let sentAt = 0;
    await pipeline(async function* () {
      yield head;
      yield* createReadStream(csv, { highWaterMark: 1 << 20 });
      sentAt = performance.now();
      yield tail;
    }, req);
    const [res] = await answered;
    let text = '';
    for await (const piece of res) text += piece;
    return { sent_at: sentAt, id: JSON.parse(text).buyer_suppression_file.id };
  }

  async wait(id: number): Promise<void> {
    for (;;) {
      const { rows } = await this.client.query(
        'SELECT status, error_message FROM buyer_suppression_files WHERE id = $1',
        [id],
      );
      if (rows[0].status === 'succeeded') return;
      if (rows[0].status === 'failed') throw new Error(rows[0].error_message);
      await new Promise((done) => setTimeout(done, 10));
    }
  }

  /** Returns the seconds from the last byte of the upload to the status `succeeded`. */
  async import(list: number, csv: string, verb = 'block'): Promise<number> {
    await this.settle();
    const { sent_at, id } = await this.upload(list, csv, verb);
    await this.wait(id);
    return (performance.now() - sent_at) / 1000;
  }

  /** Returns the latency of typical requests in ms, at 100 a second. */
  async p99(seconds: number): Promise<{ p50: number; p99: number; errors: number }> {
    const paths = [
      `/api/v1/buyers?columns=id,name,number,paused`,
      `/api/v1/buyers/${this.world.first_id}`,
    ];
    const requests = paths.map((path) => ({
      method: 'GET' as const,
      path,
      headers: this.headers(),
    }));
    const result = await autocannon({
      url: `http://127.0.0.1:${this.port}`,
      connections: 4,
      overallRate: 100,
      duration: seconds,
      requests,
    });
    return {
      p50: result.latency.p50,
      p99: result.latency.p99,
      errors: result.errors + result.non2xx,
    };
  }

  async stop(id: number): Promise<void> {
    await fetch(`http://127.0.0.1:${this.port}/api/v1/buyer_suppression_files/${id}/stop`, {
      method: 'POST',
      headers: this.headers(),
    });
  }
}
