import { randomUUID } from 'node:crypto';
import type { StandingClock } from './clock';
import { signJambonz } from './jambonz-rest';
import type { Fields } from './records';
import type { World } from './world';

// Calls through a jambonz, as a model made from its documentation (https://docs.jambonz.org) and
// from its source, which is public: it runs verbs, calls hooks and signs. It is not jambonz, and
// what a jambonz does beyond that, it does not show.

export interface JambonzScript {
  does: 'answer' | 'ring' | 'fail';
  /** Seconds of ringing. */
  after?: number;
  /** How a leg fails. */
  sip?: number;
  /** The key it presses when it is asked; null for none. */
  key?: string | null;
  /** It hangs up instead of pressing a key. */
  leaves?: boolean;
  talks?: number;
}

export interface JambonzCallPlan {
  from?: string;
  to: string;
  /** By what is dialed; one that is dialed again has the next script. */
  buyers?: Record<string, JambonzScript | JambonzScript[]>;
  /** Seconds after which the caller hangs up while it hears ringing. */
  gives_up?: number;
  /** The caller ends the talk; otherwise the buyer does. */
  caller_hangs_up?: boolean;
  /** Every request is sent again right after its answer. */
  twice?: boolean;
  /** The statuses of legs arrive after the end, the last one first. */
  late?: boolean;
  /** The application has no call status hook. */
  silent?: boolean;
}

interface Verb extends Fields {
  verb: string;
}

/** Options that its reference lists, as far as they are written here. */
const OPTIONS: Record<string, readonly string[]> = {
  say: ['text'],
  play: ['url'],
  dial: [...['target', 'actionHook', 'callerId', 'timeout', 'timeLimit', 'answerOnBridge', 'tag']],
  gather: ['input', 'numDigits', 'timeout', 'actionHook', 'say'],
  dtmf: ['dtmf'],
  pause: ['length'],
  tag: ['data'],
  redirect: ['actionHook'],
  hangup: [],
  'sip:decline': ['status', 'reason'],
};
const TARGETS: Record<string, readonly string[]> = {
  phone: ['number', 'trunk', 'headers', 'confirmHook'],
  sip: ['sipUri', 'headers', 'confirmHook'],
};
/** In reply to a question in a confirm hook, other verbs are left out. */
const CONFIRM_VERBS = ['config', 'gather', 'say', 'tag'];
const STATUS_OF_SIP: Record<number, string> = { 486: 'busy', 600: 'busy', 487: 'no-answer' };

function check(verbs: unknown): Verb[] {
  if (!Array.isArray(verbs)) throw new Error(`no verbs: ${JSON.stringify(verbs)}`);
  for (const { verb, ...options } of verbs as Verb[]) {
    const unknown = Object.keys(options).filter((name) => !OPTIONS[verb]?.includes(name));
    if (unknown.length > 0) throw new Error(`${verb} has no ${unknown.join(', ')}`);
    for (const { type, ...target } of (options.target ?? []) as Fields[])
      for (const name of Object.keys(target))
        if (!TARGETS[String(type)]?.includes(name)) throw new Error(`no ${name} of a target`);
  }
  return verbs as Verb[];
}

let requests = 0;

interface Leg {
  info: Fields;
  address: string;
  target: Fields;
  script: JambonzScript;
  over: number;
  ended: boolean;
}

export class PlayedCall {
  readonly sid = randomUUID();
  readonly heard: string[] = [];
  readonly prompts: string[] = [];
  /** Keys and pauses that buyers have heard. */
  readonly tones: unknown[] = [];
  readonly dials: Verb[] = [];
  readonly rung: string[][] = [];
  connected: string | null = null;
  declined: Fields | null = null;
  readonly posts: { url: string; payload: Fields }[] = [];
}

/** Plays jambonz and everybody on the line. */
export class JambonzCaller {
  constructor(
    private readonly world: World,
    private readonly clock: StandingClock,
    private readonly secret: string,
  ) {}

  hook(name: string): string {
    return `${this.world.deps.config.public_url}/api/v1/telephony/jambonz/${name}`;
  }

  /** A signed request. */
  send(url: string, payload: object, { secret = this.secret, at = this.clock.read() } = {}) {
    const text = JSON.stringify(payload);
    return this.world.company.api('post', url.slice(this.world.deps.config.public_url.length), {
      auth: null,
      headers: {
        'Content-Type': 'application/json',
        // Each rejected signature counts against the address it came from.
        'X-Forwarded-For': `10.3.${++requests % 250}.1`,
        'Jambonz-Signature': signJambonz(secret, text, at),
      },
      body: text,
    });
  }

  async placeCall(plan: JambonzCallPlan): Promise<PlayedCall> {
    const { from = '+13105550188', to } = plan;
    const run = new Run(this, this.clock, plan, {
      ...{ direction: 'inbound', from, to, call_status: 'trying', sip_status: 100 },
      ...{ sbc_callid: 'x', originating_sip_ip: '10.0.0.9' },
    });
    await run.reportStatus({ call_status: 'trying', sip_status: 100 });
    const sip = { method: 'INVITE', headers: { to: `<sip:${to}@10.0.0.9>` }, body: 'v=0' };
    await run.run(await run.post(this.hook('call'), { sip, ...run.info }));
    return run.finish();
  }

  /** A call that was ordered is answered; what detects machines says this. */
  async answerOrder(
    order: { sid: string; from: string; to: string; tag: Fields },
    plan: Omit<JambonzCallPlan, 'from' | 'to'> & { events?: string[] } = {},
  ): Promise<PlayedCall> {
    const { sid, from, to, tag } = order;
    const run = new Run(
      this,
      this.clock,
      { ...plan, to },
      {
        ...{ direction: 'outbound', from, to, call_status: 'in-progress', sip_status: 200 },
        customerData: tag,
      },
    );
    Object.assign(run.played, { sid });
    run.info.call_sid = sid;
    run.answered = true;
    await run.reportStatus({ call_status: 'in-progress', sip_status: 200 });
    run.events = [...(plan.events ?? [])];
    await run.run(await run.post(this.hook('call'), run.info));
    return run.finish();
  }
}

class Run {
  readonly played = new PlayedCall();
  readonly info: Fields;
  answered = false;
  here = true;
  events: string[] = [];
  private elapsed = 0;
  private readonly started: number;
  private readonly withheld: (() => Promise<unknown>)[] = [];
  private readonly dialed = new Map<string, number>();

  constructor(
    private readonly caller: JambonzCaller,
    private readonly clock: StandingClock,
    private readonly plan: JambonzCallPlan,
    info: Fields,
  ) {
    this.info = { call_sid: this.played.sid, account_sid: 'a', application_sid: 'b', ...info };
    this.started = clock.read().getTime();
  }

  private at(seconds: number): void {
    this.elapsed = seconds;
    this.clock.set(new Date(this.started + seconds * 1000).toISOString());
  }

  async post(url: string, payload: Fields): Promise<Verb[]> {
    this.played.posts.push({ url, payload });
    const res = await this.caller.send(url, payload);
    if (res.status !== 200) throw new Error(`${url}: ${res.text}`);
    if (this.plan.twice) await this.caller.send(url, payload);
    return check(res.body);
  }

  async reportStatus(changes: Fields): Promise<void> {
    Object.assign(this.info, changes);
    if (!this.plan.silent) await this.post(this.caller.hook('status'), { ...this.info });
  }

  private async reportLeg(leg: Leg, changes: Fields): Promise<void> {
    Object.assign(leg.info, changes);
    if (this.plan.silent) return;
    const payload = { ...leg.info };
    const send = () => this.post(this.caller.hook('status'), payload);
    if (this.plan.late) this.withheld.unshift(send);
    else await send();
  }

  async run(verbs: Verb[]): Promise<void> {
    let tasks = [...verbs];
    while (tasks.length > 0 && this.here) {
      const task = tasks.shift()!;
      const next = await this.execute(task);
      if (next && next.length > 0) tasks = [...next];
    }
  }

  private async answer(): Promise<void> {
    if (this.answered) return;
    this.answered = true;
    await this.reportStatus({ call_status: 'in-progress', sip_status: 200 });
  }

  private async execute(task: Verb): Promise<Verb[] | undefined> {
    switch (task.verb) {
      case 'say':
      case 'play':
        await this.answer();
        this.played.heard.push(String(task.text ?? task.url));
        return undefined;
      case 'dial':
        return this.dial(task);
      case 'tag':
        this.info.customerData = task.data;
        return undefined;
      case 'redirect':
        return this.post(String(task.actionHook), { ...this.info });
      case 'pause':
        return this.pause(Number(task.length));
      case 'sip:decline':
        if (this.answered) return undefined;
        this.played.declined = { status: task.status, reason: task.reason };
        this.here = false;
        await this.reportStatus({ call_status: 'failed', sip_status: task.status });
        return undefined;
      default:
        // Nothing to hang up before the answer: the verb is left out.
        if (task.verb === 'hangup' && this.answered) await this.leave();
        return undefined;
    }
  }

  /** An event of the detection takes the place of what it waits for. */
  private async pause(seconds: number): Promise<Verb[] | undefined> {
    while (this.events.length > 0) {
      this.at(this.elapsed + 2);
      const payload = { ...this.info, type: this.events.shift() };
      const next = await this.post(this.caller.hook('call'), payload);
      if (next.length > 0) return next;
    }
    this.at(this.elapsed + seconds);
    return undefined;
  }

  private async leave(): Promise<void> {
    this.here = false;
    if (this.answered)
      await this.reportStatus({ call_status: 'completed', duration: Math.round(this.elapsed) });
    else await this.reportStatus({ call_status: 'no-answer', sip_status: 487 });
  }

  async finish(): Promise<PlayedCall> {
    // Events of the detection that come when all is decided.
    for (const type of this.events.splice(0))
      if ((await this.post(this.caller.hook('call'), { ...this.info, type })).length > 0)
        throw new Error(`${type} has interrupted the call`);
    if (this.here && this.answered) await this.leave();
    for (const send of this.withheld.splice(0)) await send();
    return this.played;
  }

  private openLegs({ target, timeout, callerId, tag }: Verb): Leg[] {
    const legs = (target as Fields[]).map((item): Leg => {
      const address = String(item.number ?? item.sipUri);
      const turn = this.dialed.get(address) ?? 0;
      const scripts = [this.plan.buyers?.[address] ?? { does: 'ring' as const }].flat();
      const script = scripts[Math.min(turn, scripts.length - 1)]!;
      const over = script.does === 'ring' ? Infinity : (script.after ?? 2);
      const info = {
        ...{ call_sid: randomUUID(), parent_call_sid: this.played.sid, direction: 'outbound' },
        ...{ from: callerId ?? this.info.from, to: address, account_sid: 'a' },
        ...(tag !== undefined && { customerData: tag }),
      };
      return { info, address, target: item, script, over, ended: over > Number(timeout ?? 60) };
    });
    // Duplicates are left out, and all beyond ten.
    const isFirst = ({ address }: Leg, index: number) =>
      legs.findIndex((leg) => leg.address === address) === index;
    const rung = legs.filter(isFirst).slice(0, 10);
    for (const { address } of rung) this.dialed.set(address, (this.dialed.get(address) ?? 0) + 1);
    return rung;
  }

  private async dial(task: Verb): Promise<Verb[] | undefined> {
    const legs = this.openLegs(task);
    const results: Fields = {};
    const report = async (leg: Leg, changes: Fields) => {
      if (!['completed', 'no-answer'].includes(String(results.dial_call_status)))
        Object.assign(results, {
          dial_call_status: changes.call_status,
          dial_sip_status: changes.sip_status,
          dial_call_sid: leg.info.call_sid,
        });
      await this.reportLeg(leg, changes);
    };
    this.played.dials.push(task);
    this.played.rung.push(legs.map(({ address }) => address));
    for (const leg of legs) await report(leg, { call_status: 'trying', sip_status: 100 });
    for (const leg of legs) await report(leg, { call_status: 'ringing', sip_status: 180 });
    const start = this.elapsed;
    const winner = await this.ring(legs, report, start + Number(task.timeout ?? 60));
    if (winner) {
      await this.answer();
      this.played.connected = winner.address;
      Object.assign(results, { dial_call_status: 'completed', dial_sip_status: 200 });
      results.dial_call_sid = winner.info.call_sid;
      const talked = winner.script.talks ?? 60;
      this.at(this.elapsed + talked);
      if (this.plan.caller_hangs_up) await this.leave();
      await this.reportLeg(winner, { call_status: 'completed', duration: talked });
    }
    if (task.actionHook === undefined) return undefined;
    const next = await this.post(String(task.actionHook), { ...this.info, ...results });
    return this.here ? next : undefined;
  }

  /** The leg that takes the call. Those that ring on are canceled without a report. */
  private async ring(
    legs: Leg[],
    report: (leg: Leg, changes: Fields) => Promise<void>,
    end: number,
  ): Promise<Leg | undefined> {
    const { gives_up = Infinity } = this.plan;
    const start = this.elapsed;
    for (const leg of legs.toSorted((a, b) => a.over - b.over)) {
      if (leg.ended) continue;
      if (start + leg.over > gives_up) break;
      this.at(Math.max(this.elapsed, start + leg.over));
      if (leg.script.does === 'fail') {
        const { sip = 486 } = leg.script;
        const callStatus = STATUS_OF_SIP[sip] ?? 'failed';
        await report(leg, { call_status: callStatus, sip_status: sip });
        leg.ended = true;
        continue;
      }
      await report(leg, { call_status: 'in-progress', sip_status: 200 });
      if (await this.confirm(leg)) return leg;
      leg.ended = true;
    }
    if (legs.every(({ ended, over }) => ended && over !== Infinity)) return undefined;
    if (end > gives_up) {
      this.at(gives_up);
      await this.leave();
    } else if (legs.some(({ over }) => over === Infinity || start + over > end)) this.at(end);
    return undefined;
  }

  /** True if the leg is connected when the verbs of its hook have ended. */
  private async confirm(leg: Leg): Promise<boolean> {
    const { confirmHook } = leg.target;
    if (confirmHook === undefined) return true;
    let tasks = await this.post(String(confirmHook), { ...leg.info });
    while (tasks.length > 0) {
      const [task, ...rest] = tasks as [Verb, ...Verb[]];
      tasks = rest;
      if (task.verb === 'hangup') return false;
      if (task.verb === 'dtmf' || task.verb === 'pause')
        this.played.tones.push(task.dtmf ?? task.length);
      else if (task.verb === 'tag') leg.info.customerData = task.data;
      else if (task.verb === 'gather') {
        const next = await this.askForKey(leg, task);
        if (next === 'left') return false;
        if (next.length > 0) tasks = next;
      } else throw new Error(`${task.verb} in a confirm hook`);
    }
    return true;
  }

  private async askForKey(leg: Leg, task: Verb): Promise<Verb[] | 'left'> {
    this.played.prompts.push(String((task.say as Fields).text));
    const { key = '1', leaves } = leg.script;
    if (leaves) {
      await this.reportLeg(leg, { call_status: 'completed', duration: 3 });
      return 'left';
    }
    const isPressed = key !== null;
    this.at(this.elapsed + (isPressed ? 3 : Number(task.timeout)));
    const result = isPressed ? { reason: 'dtmfDetected', digits: key } : { reason: 'timeout' };
    const next = await this.post(String(task.actionHook), { ...leg.info, ...result });
    return next.filter(({ verb }) => CONFIRM_VERBS.includes(verb));
  }
}
