import type { Client } from 'pg';
import { CachedCounts } from '../../src/data/counts/settled-counts';
import {
  ago,
  CHUNK,
  COMPLETED,
  settledCalls,
  type Condition,
  type Saved,
} from '../support/settled-calls';
import { useWorld } from '../support/use-world';
import { addRecording } from '../support/recorded-calls';

const world = useWorld({ fresh: 'company' });
const { addUnseen, connect, closeConnections, count, counted } = settledCalls(world);

afterEach(closeConnections);

/** Deterministic, so that a failure can be repeated. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

const CONDITIONS: Condition[] = [
  COMPLETED,
  ['t.buyer_converted', {}],
  ['t.token_values @> {tokens}::jsonb', { tokens: '{"state":"CA"}' }],
  ['t.ended_at IS NULL', {}],
];
const CHANGES = [
  `status = 'busy'`,
  `status = 'completed'`,
  'buyer_converted = NOT buyer_converted',
  `token_values = '{"state":"CA"}'`,
  `token_values = '{"state":"NY"}'`,
  'ended_at = now()',
  'deleted_at = now()',
  'deleted_at = NULL',
  `disposition_notes = 'none'`,
];
const AGES = ['now', '5 minutes', '20 minutes', '40 minutes', '3 hours', 'in an hour'];

/** Writers whose transactions overlap: each has one connection, and commits when it likes. */
class Writer {
  private is_open = false;
  private readonly locked = new Set<number>();

  constructor(
    private readonly client: Client,
    private readonly random: (below: number) => number,
    private readonly lockedIds: Set<number>,
  ) {}

  async step(ids: number[]): Promise<void> {
    if (!this.is_open) {
      await this.client.query('BEGIN');
      this.is_open = true;
    }
    const kind = this.random(10);
    if (kind < 3) return this.insert(ids);
    if (kind < 8) return this.change(ids);
    await this.end();
  }

  async end(): Promise<void> {
    if (!this.is_open) return;
    await this.client.query(this.random(4) === 0 ? 'ROLLBACK' : 'COMMIT');
    for (const id of this.locked) this.lockedIds.delete(id);
    this.locked.clear();
    this.is_open = false;
  }

  private async insert(ids: number[]): Promise<void> {
    const id = this.random(6) * CHUNK + this.random(5_000);
    if (ids.includes(id)) return;
    ids.push(id);
    await this.client.query(
      addRecording(`INSERT INTO calls (company_id, id, uuid, direction, status, carrier, created_at)
      VALUES ($1, $2, gen_random_uuid(), 'inbound', 'completed', 'sandbox', $3)`),
      [world.company.id, id, ago(AGES[this.random(AGES.length)]!)],
    );
  }

  private async change(ids: number[]): Promise<void> {
    const id = ids[this.random(ids.length)]!;
    if (this.lockedIds.has(id) && !this.locked.has(id)) return;
    this.lockedIds.add(id);
    this.locked.add(id);
    const change = CHANGES[this.random(CHANGES.length)]!;
    await this.client.query(
      addRecording(`UPDATE calls SET ${change} WHERE company_id = $1 AND id = $2`),
      [world.company.id, id],
    );
  }
}

test.each([
  ...[1, 2, 3, 4].map((seed) => [seed, 'that go on', Infinity] as const),
  ...[1, 2, 3, 4].map((seed) => [seed, 'that start again and again', 12] as const),
])(
  'counts equal counting, after any writes (%d), in two processes %s',
  async (seed, _, stepsOfProcess) => {
    const random = createRandom(seed);
    const saved: Saved = new Map();
    const createCounts = () => new CachedCounts(undefined, 1);
    const processes = [createCounts(), createCounts()];
    const ids: number[] = [];
    for (let chunk = 0; chunk < 6; chunk++) {
      ids.push(chunk * CHUNK + 6_000);
      await addUnseen(ids.at(-1)!);
    }
    const lockedIds = new Set<number>();
    const clients = [await connect(), await connect(), await connect()];
    const writers = clients.map((client) => new Writer(client, random, lockedIds));
    const furthest = new Set<number>();
    let savedOnes = 0;
    for (let step = 0; step < 150; step++) {
      await writers[random(3)]!.step(ids);
      const condition = CONDITIONS[random(CONDITIONS.length)]!;
      const which = random(2);
      const starts = step % stepsOfProcess === stepsOfProcess - 1;
      if (starts) processes[which] = createCounts();
      const { total, from } = await count(processes[which]!, condition, saved);
      expect([step, condition[0], total]).toEqual([step, condition[0], await counted(condition)]);
      furthest.add(from);
      if (starts && from > 0) savedOnes++;
    }
    expect(furthest.size).toBeGreaterThan(1);
    expect(savedOnes > 0).toBe(stepsOfProcess < Infinity);
    for (const writer of writers) await writer.end();
    for (const condition of CONDITIONS)
      for (const counts of processes)
        expect((await count(counts, condition, saved)).total).toBe(await counted(condition));
  },
);
