import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CallPlan, PlacedCall } from '../../../src/main/conformance/stage';

// A switch and its adapter in one process, without telephones: it does what docs/switches.md asks
// for, but for its faults.

export type Flaw =
  | 'calls before its sync'
  | 'another call_sid'
  | 'no attempt'
  | 'no code'
  | 'answers all callers'
  | 'lets others ring'
  | 'no trunk'
  | 'reports once'
  | 'no duration'
  | 'forgets reports'
  | 'no import'
  | 'ignores commands'
  | 'syncs without calls'
  | 'ignores ended calls'
  | 'one boot_id'
  | 'calls twice'
  | 'unknown fields';

export const TELEPHONES = {
  answers: '+12125550161',
  busy: '+12125550162',
  rings: '+12125550163',
  trunks: ['refuses.example', 'works.example'],
} as const;

interface Leg {
  attempt: string;
  number: string;
  trunk: { name: string; host: string } | null;
}

interface Instruction {
  action: string;
  attempt: string | null;
  dial: Leg[];
  cancel: string[];
  sip_status: number | null;
}

interface Session {
  uuid: string;
  instruction: Instruction;
}

interface Call {
  sid: string;
  plan: CallPlan | undefined;
  startedAt: Date;
  answeredAt?: number;
  /** Ringing or talking, by attempt. */
  legs: Set<string>;
  dialed: Set<string>;
  isOver: boolean;
  end(fault?: string): void;
}

interface Command {
  id: number;
  command: string;
  call_sid: string;
  attempt: string;
}

interface Report {
  sid: string;
  path: string;
  body: object;
}

const PAUSE_MS = 50;
const SYNC_MS = 300;

export interface Settings {
  url: string;
  key: string;
  name: string;
}

export class ModelAdapter {
  private process = new AbortController();
  private bootId = randomUUID();
  private calls = new Map<string, Call>();
  /** As on a disk: the next process has it. */
  private reports: Report[] = [];
  private missed: object[] = [];
  private carriedOut = new Set<number>();
  private synced!: Promise<void>;
  private noteFirstCall!: () => void;
  private readonly firstCall = new Promise<void>((done) => (this.noteFirstCall = done));
  private running: Promise<unknown>[] = [];

  constructor(
    private readonly settings: Settings,
    private readonly flaw?: Flaw,
  ) {
    this.start();
  }

  private has(flaw: Flaw): boolean {
    return this.flaw === flaw;
  }

  private start(): void {
    const { signal } = this.process;
    let isFirst = true;
    const sync = async () => {
      if (this.has('calls before its sync') && isFirst) await this.firstCall;
      isFirst = false;
      await this.sync();
    };
    this.synced = this.repeat(sync, SYNC_MS, signal);
    this.running = [
      this.repeat(() => this.follow(), 1, signal),
      this.repeat(() => this.sendReports(), PAUSE_MS, signal),
      this.repeat(() => this.importMissed(), PAUSE_MS, signal),
    ];
  }

  /** Resolves after the first success; goes on until the process ends. */
  private repeat(work: () => Promise<void>, ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((done) => {
      const run = async () => {
        while (!signal.aborted) {
          await work().then(done, () => undefined);
          await sleep(ms, undefined, { signal }).catch(() => undefined);
        }
        done();
      };
      void run();
    });
  }

  async stop(): Promise<void> {
    this.process.abort();
    for (const call of this.calls.values()) call.end();
    await Promise.all(this.running);
  }

  async restart(): Promise<void> {
    await this.stop();
    this.calls.clear();
    if (this.has('forgets reports')) this.reports = [];
    this.process = new AbortController();
    if (!this.has('one boot_id')) this.bootId = randomUUID();
    this.start();
  }

  private async ask(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
    const { url, key } = this.settings;
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        authorization: `Basic ${Buffer.from(key).toString('base64')}`,
        'content-type': 'application/json',
      },
      signal: this.process.signal,
      ...(body && { body: JSON.stringify(body) }),
    });
    if (response.status >= 500) throw new Error('away');
    return (await response.json()) as Record<string, unknown>;
  }

  private async sync(): Promise<void> {
    const live = this.has('syncs without calls') ? [] : [...this.calls.keys()];
    const path = `/switches/${this.settings.name}/sync`;
    const { ended } = await this.ask('POST', path, { boot_id: this.bootId, live });
    if (this.has('ignores ended calls')) return;
    for (const sid of ended as string[]) this.hangUp(this.calls.get(sid));
  }

  private async follow(): Promise<void> {
    const path = `/switches/${this.settings.name}/commands`;
    const { commands } = await this.ask('GET', `${path}?wait_seconds=1`);
    if (this.has('ignores commands')) return;
    for (const command of commands as Command[]) {
      const { id } = command;
      const isNew = !this.carriedOut.has(id);
      this.carriedOut.add(id);
      const result = isNew ? this.carryOut(command) : undefined;
      await this.ask('POST', `${path}/${id}`, result ?? { result: 'done' });
    }
  }

  private carryOut({ command, call_sid, attempt }: Command): object | undefined {
    const call = this.calls.get(call_sid);
    if (command === 'originate') {
      this.callPerson(call_sid);
      if (this.has('calls twice')) this.callPerson(call_sid);
    } else if (!call) return { result: 'failed', reason: 'no such call' };
    else if (command === 'hang_up') this.hangUp(call);
    else if (command === 'stop_leg' && !call.legs.delete(attempt))
      return { result: 'failed', reason: 'it does not ring' };
    return undefined;
  }

  private async sendReports(): Promise<void> {
    const [first] = this.reports;
    if (!first) return;
    if (this.has('reports once')) this.reports.shift();
    const answer = await this.ask('POST', first.path, first.body);
    if (!this.has('reports once')) this.reports.shift();
    this.take(first.sid, answer);
    if (this.reports.length > 0) await this.sendReports();
  }

  private async importMissed(): Promise<void> {
    if (this.missed.length === 0) return;
    await this.ask('POST', '/call_sessions/import', { calls: this.missed });
    this.missed = [];
  }

  private report(call: Call, event: string, fields: object = {}): void {
    const path = `/call_sessions/sid:${call.sid}/events`;
    this.reports.push({ sid: call.sid, path, body: { event, ...fields } });
  }

  placeCall = (plan: CallPlan): PlacedCall => {
    let settle: (fault?: string) => void = () => undefined;
    const ended = new Promise<string | undefined>((done) => (settle = done));
    const call = this.open(randomUUID(), plan, settle);
    void this.begin(call).catch(() => settle());
    return { ended, hangUp: () => this.hangUp(call, 'caller') };
  };

  private open(sid: string, plan: CallPlan | undefined, end: Call['end']): Call {
    const startedAt = new Date();
    const sets = { legs: new Set<string>(), dialed: new Set<string>() };
    const call = { sid, plan, startedAt, isOver: false, end, ...sets };
    this.calls.set(sid, call);
    return call;
  }

  private callPerson(sid: string): void {
    const call = this.calls.get(sid) ?? this.open(sid, undefined, () => undefined);
    this.report(call, 'ringing');
    this.report(call, 'answered', { answered_by: 'human' });
  }

  private async begin(call: Call): Promise<void> {
    if (!this.has('calls before its sync')) await this.synced;
    for (let tries = 0; tries < 3; tries++) {
      if (tries > 0 && this.has('another call_sid')) this.rename(call, randomUUID());
      try {
        const { number, caller } = call.plan!;
        this.take(
          call.sid,
          await this.ask('POST', '/call_sessions', {
            ...{ number_called: number, caller_number: caller, call_sid: call.sid },
            ...{ switch: this.settings.name },
          }),
        );
        this.noteFirstCall();
        return;
      } catch {
        await sleep(PAUSE_MS);
      }
    }
    await this.overflow(call);
  }

  private rename(call: Call, sid: string): void {
    this.calls.delete(call.sid);
    call.sid = sid;
    this.calls.set(sid, call);
  }

  private async overflow(call: Call): Promise<void> {
    const { number, caller, talk_seconds } = call.plan!;
    await sleep((talk_seconds ?? 0) * 1000);
    this.calls.delete(call.sid);
    if (!this.has('no import'))
      this.missed.push({
        ...{ number_called: number, caller_number: caller, call_sid: call.sid },
        ...{ started_at: call.startedAt.toISOString(), ended_at: new Date().toISOString() },
      });
    call.end();
  }

  private take(sid: string, answer: Record<string, unknown>): void {
    const call = this.calls.get(sid);
    const session = answer.call_session as Session | undefined;
    if (call && session && !call.isOver) this.obey(call, session.instruction);
  }

  private obey(call: Call, { action, attempt, dial, cancel, sip_status }: Instruction): void {
    if (!this.has('lets others ring')) for (const leg of cancel) call.legs.delete(leg);
    if (action === 'dial' || action === 'wait') for (const leg of dial) this.dial(call, leg);
    if (action === 'connect') this.connect(call, attempt!);
    if (action === 'fallback') this.hangUp(call);
    if (action === 'hang_up') this.refuse(call, sip_status);
  }

  private dial(call: Call, { attempt, number, trunk }: Leg): void {
    const line = `${attempt} ${trunk?.name}`;
    if (call.dialed.has(line)) return;
    call.dialed.add(line);
    const named = this.has('no attempt') ? {} : { attempt };
    const code = (sipCode: number) => (this.has('no code') ? {} : { sip_code: sipCode });
    if (trunk?.host === TELEPHONES.trunks[0])
      return this.report(call, 'failed', {
        ...{ ...named, ...code(503) },
        ...(!this.has('no trunk') && { trunk: trunk.name }),
      });
    if (number === TELEPHONES.busy) return this.report(call, 'failed', { ...named, ...code(486) });
    call.legs.add(attempt);
    if (number === TELEPHONES.answers) this.report(call, 'answered', named);
  }

  private connect(call: Call, attempt: string): void {
    if (call.answeredAt !== undefined) return;
    call.legs.delete(attempt);
    call.answeredAt = Date.now();
    const { talk_seconds = null } = call.plan ?? {};
    if (talk_seconds === null) return;
    const { signal } = this.process;
    void sleep(talk_seconds * 1000, undefined, { signal }).then(
      () => this.hangUp(call, 'caller'),
      () => undefined,
    );
  }

  private refuse(call: Call, status: number | null): void {
    this.calls.delete(call.sid);
    call.isOver = true;
    const { expected = '' } = call.plan ?? {};
    const outcome = this.has('answers all callers') ? 'answered' : String(status);
    const isExpected = !/^\d+$/.test(expected) || outcome === expected;
    call.end(isExpected ? undefined : `the caller was not refused with ${expected}: ${outcome}`);
  }

  private hangUp(call: Call | undefined, by: 'caller' | 'switch' = 'switch'): void {
    if (!call || call.isOver) return;
    call.isOver = true;
    this.calls.delete(call.sid);
    const seconds =
      call.answeredAt === undefined ? 0 : Math.round((Date.now() - call.answeredAt) / 1000);
    this.report(call, 'completed', {
      ...(this.has('unknown fields') ? { reason: 'bye' } : { by }),
      ...(call.answeredAt !== undefined && !this.has('no duration') && { duration: seconds }),
    });
    call.end();
  }
}
