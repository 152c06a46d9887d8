import { Pool } from 'undici';
import { CallClient, repeatConcurrently, type StartedCall, type CallEvent } from './call-client';
import { CONVERSION } from './events-world';
import { phoneNumber } from './shop';
import type { SoakWorld } from './soak-world';

// The mixed load: requests that are due at even intervals, and the events of the calls that they
// start, at the pace of a softswitch.

const CONNECTIONS = 64;
/** Requests a second, in addition to three events of each call; together USUAL_RATE. */
export const RATES = {
  'begin a call': 30,
  'submit a lead': 60,
  'list calls': 30,
  'list leads': 25,
  'list buyers': 30,
  'show a buyer': 32,
  'change a buyer': 1,
  report: 2,
};
export const USUAL_RATE = 300;
export type Kind = keyof typeof RATES | 'event of a call';
/** The requests of one second, each kind spread evenly. */
const PATTERN = Object.entries(RATES)
  .flatMap(([kind, rate]) =>
    Array.from({ length: rate }, (_, n) => ({ kind, at: (n + 0.5) / rate })),
  )
  .sort((a, b) => a.at - b.at)
  .map(({ kind }) => kind as keyof typeof RATES);

/** Submitted leads have numbers below this, other callers above. */
const OTHER_CALLERS = 1_000_000;
/** Milliseconds between the events of a call. */
type Pauses = readonly [shortest: number, longest: number];
const CALL_PAUSES: Pauses = [300, 1_800];
const NO_PAUSES: Pauses = [0, 0];
const REPEATED_LEADS = 0.3;
const CALLS_OF_LEADS = 0.5;

interface LoadRequest {
  method: 'GET' | 'POST' | 'PUT';
  path: string;
  body?: object;
}

const random = (n: number): number => Math.floor(Math.random() * n);
const pickRandom = <T>(items: readonly T[]): T => items[random(items.length)]!;
const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));
const day = (ago: number): string =>
  new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);

/** Answered requests, to be compared with the stored rows. */
export interface Sums {
  calls: number;
  leads: number;
  repeated_leads: number;
}

export class Load {
  readonly times = new Map<Kind, number[]>();
  readonly errors: string[] = [];
  readonly sums: Sums = { calls: 0, leads: 0, repeated_leads: 0 };
  private readonly calls: CallClient;
  private readonly pool: Pool;
  private readonly open = new Set<Promise<void>>();
  private numbers = 0;
  private callers = OTHER_CALLERS;

  constructor(
    private readonly soak: SoakWorld,
    port: string,
  ) {
    this.calls = new CallClient(soak.world, port, CONNECTIONS);
    this.pool = new Pool(`http://127.0.0.1:${port}`, { connections: CONNECTIONS, pipelining: 1 });
  }

  /** Sends for `seconds` at `times` the usual rates, and returns once all calls have ended. */
  async run(seconds: number, times = 1): Promise<void> {
    const start = performance.now();
    const aSecond = PATTERN.length * times;
    for (let n = 0; n < aSecond * seconds; n++) {
      const due = start + (n * 1000) / aSecond;
      const early = due - performance.now();
      if (early > 0) await pause(early);
      this.track(this.send(PATTERN[n % PATTERN.length]!, due, CALL_PAUSES));
    }
    while (this.open.size > 0) await Promise.all(this.open);
  }

  /**
   * Keeps clients busy for `seconds`: each sends one request after the other, a call with all its
   * events. Without `kind`, the requests are mixed as usual.
   */
  async saturate(clients: number, seconds: number, kind?: keyof typeof RATES): Promise<void> {
    let n = random(PATTERN.length);
    await repeatConcurrently(clients, seconds, () =>
      this.send(kind ?? PATTERN[n++ % PATTERN.length]!, performance.now(), NO_PAUSES),
    );
  }

  /** Starts a call whose events are not reported; undefined when that fails. */
  async begin(
    due = performance.now(),
    offerId = this.soak.offer_id,
  ): Promise<StartedCall | undefined> {
    const { traffic_source_id } = this.soak;
    const isLead = this.numbers > 0 && Math.random() < CALLS_OF_LEADS;
    const n = isLead ? random(this.numbers) : this.callers++;
    const call = await this.timed('begin a call', due, () =>
      this.calls.begin(n, { offer_id: offerId, traffic_source_id }),
    );
    if (call) this.sums.calls++;
    return call;
  }

  /** Returns how many requests of each kind were answered since the last call. */
  takeCounts(): Partial<Record<Kind, number>> {
    const counts = [...this.times].map(([kind, times]) => [kind, times.length]);
    this.times.clear();
    return Object.fromEntries(counts) as Partial<Record<Kind, number>>;
  }

  async close(): Promise<void> {
    await this.calls.close();
    await this.pool.close();
  }

  private track(work: Promise<void>): void {
    this.open.add(work);
    void work.finally(() => this.open.delete(work));
  }

  /** Times a request from its due time, even if it was sent later. */
  private async timed<T>(kind: Kind, due: number, work: () => Promise<T>): Promise<T | undefined> {
    try {
      const result = await work();
      const times = this.times.get(kind) ?? [];
      this.times.set(kind, times);
      times.push(performance.now() - due);
      return result;
    } catch (error) {
      this.errors.push(`${kind}: ${(error as Error).message}`);
      return undefined;
    }
  }

  private async send(kind: keyof typeof RATES, due: number, pauses: Pauses): Promise<void> {
    if (kind === 'begin a call') {
      const call = await this.begin(due);
      return call && this.events(call, pauses);
    }
    if (kind === 'submit a lead') return this.submit(due);
    await this.timed(kind, due, () => this.request(this.buildRequest(kind)));
  }

  private buildRequest(kind: keyof typeof RATES): LoadRequest {
    const { offer_id, world } = this.soak;
    const buyer = world.first_id + random(world.buyers - 1);
    const get = (path: string): LoadRequest => ({ method: 'GET', path });
    const since = 1 + random(90);
    switch (kind) {
      case 'list calls':
        return get(
          pickRandom([
            'calls',
            'calls?buyer_converted=true',
            'calls?no_buyer=true&per_page=10',
            `calls?buyer_id=${buyer}`,
            `calls?offer_id=${offer_id}&page=2`,
          ]),
        );
      case 'list leads':
        return get(
          pickRandom([
            'leads',
            'leads?columns=id,caller_number,status',
            'leads?page=20',
            'leads?order=created_at&order_dir=desc',
            `leads?number=${phoneNumber(random(Math.max(1, this.numbers)))}`,
          ]),
        );
      case 'list buyers':
        return get(pickRandom(['buyers', 'buyers?columns=id,name,number,paused', 'buyers?page=3']));
      case 'report':
        return get(
          `calls/reports?category=${pickRandom(['buyer', 'offer', 'day'])}` +
            `&created_at_from=${day(since + 1)}&created_at_to=${day(since)}`,
        );
      case 'change a buyer':
        return {
          method: 'PUT',
          path: `buyers/${buyer}`,
          body: { name: `Changed ${random(1_000)}`, tier: random(5) },
        };
      default:
        return get(`buyers/${buyer}`);
    }
  }

  private async request({ method, path, body }: LoadRequest): Promise<number> {
    const res = await this.pool.request({
      method,
      path: `/api/v1/${path}`,
      headers: {
        authorization: `Basic ${Buffer.from(this.soak.world.auth).toString('base64')}`,
        ...(body && { 'content-type': 'application/json' }),
      },
      body: body ? JSON.stringify(body) : null,
    });
    const text = await res.body.text();
    if (res.statusCode >= 300) throw new Error(`${path}: ${res.statusCode} ${text}`);
    return res.statusCode;
  }

  private async submit(due: number): Promise<void> {
    const isRepeated = this.numbers > 0 && Math.random() < REPEATED_LEADS;
    const n = isRepeated ? random(this.numbers) : this.numbers++;
    const fields = {
      lead_token: this.soak.lead_token,
      caller_id: String(phoneNumber(n)).slice(1),
      first_name: 'Ann',
      email: `ann.${n}@example.com`,
      city: 'Springfield',
      state: 'CA',
      source: `page-${random(1_000)}`,
    };
    const path = `leads?${new URLSearchParams(fields)}`;
    const status = await this.timed('submit a lead', due, () =>
      this.request({ method: 'POST', path }),
    );
    if (status === 201) this.sums.leads++;
    if (status === 200) this.sums.repeated_leads++;
  }

  /**
   * Most calls convert; others end early, are hung up while ringing, or find the first buyer busy.
   */
  async events(call: StartedCall, [shortest, longest] = NO_PAUSES): Promise<void> {
    if (!call.is_dialed) return;
    const report = async (event: CallEvent) => {
      if (longest > 0) await pause(shortest + random(longest - shortest));
      const session = await this.timed('event of a call', performance.now(), () =>
        this.calls.report(call, event),
      );
      return session?.call_session.instruction.action;
    };
    const kind = Math.random();
    if (kind < 0.1) return void (await report({ event: 'completed' }));
    if (kind < 0.2) await report({ event: 'busy' });
    let action = await report({ event: 'answered' });
    if (action === 'ask_for_key') action = await report({ event: 'key_press', key: '1' });
    if (action !== 'connect') return;
    const duration = kind < 0.3 ? 20 : CONVERSION.after_seconds + random(600);
    await report({ event: 'completed', duration });
  }
}
