import { computeSignature } from '../../src/platform/carriers/signature';
import { MODELS } from './carrier-models';
import type { StandingClock } from './clock';
import type { TwilioServer } from './twilio-server';
import type { DialectName } from '../../src/platform/carriers/dialects/dialect';
import { TWILIO_TOKEN, type World } from './world';
import { parseXml, type Element } from './xml';

/** Behavior of a buyer when it is rung. */
export interface Script {
  does: 'answer' | 'busy' | 'no-answer' | 'failed';
  /** Seconds of ringing. */
  after?: number;
  /** The key that it presses when it is asked; null for none. */
  key?: string | null;
  /** Seconds it talks. */
  talks?: number;
}

export interface PlacedCall {
  from?: string;
  to: string;
  buyers?: Record<string, Script>;
  /** Seconds after which the caller hangs up while it hears ringing. */
  gives_up?: number;
  /** Every request is sent again right after its answer. */
  twice?: boolean;
  /** The reports about the buyers' legs arrive after the end, the last one first. */
  late?: boolean;
  more?: Record<string, string>;
}

export interface Played {
  sid: string;
  heard: string[];
  /** Prompts to buyers who were asked for a key. */
  prompts: string[];
  /** Numbers that were rung, those at the same time together. */
  rung: string[][];
  dials: Element[];
  connected: string | null;
  rejected: boolean;
  voicemail: boolean;
  /** Everything that was posted, for sending it again. */
  posts: { url: string; params: Record<string, string> }[];
}

/** Reads an answer to a carrier, and throws for what this carrier would not understand. */
export function readTwiml(xml: string, dialect: DialectName = 'twilio'): Element {
  const { elements } = MODELS[dialect];
  const check = ({ name, attributes, children }: Element) => {
    const unknown = Object.keys(attributes).filter(
      (attribute) => !elements[name]?.includes(attribute),
    );
    if (!elements[name] || unknown.length > 0)
      throw new Error(`<${name}> has no ${unknown.join(', ')}`);
    children.forEach(check);
  };
  const response = parseXml(xml);
  check(response);
  return response;
}

/** A request of a carrier; `signed` are the parameters of its signature. */
export const signForm = (
  url: string,
  params: Record<string, string>,
  { token = TWILIO_TOKEN, signed = params, headers = {} }: FormSignature = {},
) => ({
  auth: null,
  headers: {
    'Content-Type': 'application/x-www-form-urlencoded',
    'X-Twilio-Signature': computeSignature(token, url, signed),
    ...headers,
  },
  body: new URLSearchParams(params).toString(),
});

interface FormSignature {
  token?: string;
  signed?: Record<string, string>;
  headers?: Record<string, string>;
}

let calls = 0;
const RECORDING = 'https://api.twilio.com/2010-04-01/Accounts/AC1/Recordings/RE';

/** The carrier that is played; by default Twilio, with the token of tests. */
export type PlayedCarrier = Pick<TwilioServer, 'dialect' | 'keys'>;
const TWILIO: PlayedCarrier = { dialect: 'twilio', keys: { signing_key: TWILIO_TOKEN } };

/** Plays the carrier and everybody on the line, from the first ring to the end. */
export function twimlCaller(
  world: World,
  time: StandingClock,
  { dialect, keys }: PlayedCarrier = TWILIO,
) {
  const publicUrl = world.deps.config.public_url;
  const { sign, leaves_out = [] } = MODELS[dialect];

  const post = (url: string, params: Record<string, string>, token = keys.signing_key) => {
    const text = new URLSearchParams(params).toString();
    const signature = sign({ url, params, text, at: time.read() }, { ...keys, signing_key: token });
    return world.company.api('post', url.slice(publicUrl.length), {
      auth: null,
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...signature },
      body: text,
    });
  };
  const twiml = async (url: string, params: Record<string, string>): Promise<Element> => {
    const res = await post(url, params);
    if (res.status !== 200) throw new Error(`${url}: ${res.text}`);
    return readTwiml(res.text, dialect);
  };
  const hook = (name: string) => `${publicUrl}/api/v1/telephony/${name}`;

  const placeCall = async ({
    from = '+13105550188',
    to,
    buyers = {},
    gives_up = Infinity,
    twice = false,
    late = false,
    more = {},
  }: PlacedCall): Promise<Played> => {
    const sid = `CA${String(++calls).padStart(32, '0')}`;
    const played: Played = {
      sid,
      heard: [],
      prompts: [],
      rung: [],
      dials: [],
      connected: null,
      rejected: false,
      voicemail: false,
      posts: [],
    };
    const caller = { CallSid: sid, From: from, To: to, Direction: 'inbound', ...more };
    const withheld: (() => Promise<unknown>)[] = [];
    const started = time.read().getTime();
    const at = (seconds: number) => time.set(new Date(started + seconds * 1000).toISOString());
    let elapsed = 0;
    let here = true;

    const send = async (url: string, params: Record<string, string>) => {
      played.posts.push({ url, params });
      const answer = await twiml(url, params);
      if (twice) await twiml(url, params);
      return answer;
    };

    const run = async ({ children }: Element): Promise<void> => {
      for (const verb of children) {
        if (verb.name === 'Say') played.heard.push(verb.text);
        else if (verb.name === 'Reject') played.rejected = true;
        else if (verb.name === 'Record') {
          played.voicemail = true;
          return run(
            await send(verb.attributes.action!, {
              ...caller,
              CallStatus: 'in-progress',
              RecordingUrl: `${RECORDING}-voicemail`,
              RecordingDuration: '9',
            }),
          );
        } else if (verb.name === 'Dial') {
          const next = await dial(verb);
          if (!here || (next && next.children.length === 0)) return;
          if (next) return run(next);
        }
        if (verb.name === 'Hangup' || verb.name === 'Reject') return;
      }
    };

    const dial = async (verb: Element): Promise<Element | undefined> => {
      const { action, timeout = '30', record, callerId = from } = verb.attributes;
      const legs = verb.children.map((noun, n) => {
        const script: Script = buyers[noun.text] ?? { does: 'no-answer' };
        const over = script.does === 'no-answer' ? Number(timeout) : (script.after ?? 2);
        const base = {
          CallSid: `${sid}-${played.dials.length}-${n}`,
          ParentCallSid: sid,
          From: callerId,
          To: noun.text,
          Direction: 'outbound-dial',
        };
        const report = async (CallStatus: string, extra: Record<string, string> = {}) => {
          const url = noun.attributes.statusCallback;
          if (!url) return;
          if (late) withheld.unshift(() => send(url, { ...base, CallStatus, ...extra }));
          else await send(url, { ...base, CallStatus, ...extra });
        };
        return {
          noun,
          script,
          over: Math.min(over, Number(timeout)),
          timely: over < Number(timeout),
          base,
          report,
          ended: '',
        };
      });
      played.dials.push(verb);
      played.rung.push(legs.map(({ noun }) => noun.text));
      const start = elapsed;
      for (const status of ['initiated', 'ringing'])
        for (const { report } of legs) await report(status);
      let winner: (typeof legs)[number] | undefined;
      for (const leg of legs.toSorted((a, b) => a.over - b.over)) {
        if (start + leg.over > gives_up) {
          here = false;
          break;
        }
        at((elapsed = start + leg.over));
        if (leg.script.does === 'answer' && leg.timely) {
          await leg.report('in-progress');
          if (await accepts(leg)) {
            winner = leg;
            break;
          }
          await leg.report((leg.ended = 'completed'));
        } else
          await leg.report(
            (leg.ended = leg.script.does === 'answer' ? 'no-answer' : leg.script.does),
          );
      }
      for (const leg of legs.filter((candidate) => candidate !== winner && !candidate.ended))
        await leg.report((leg.ended = 'canceled'));
      if (winner) played.connected = winner.noun.text;
      const talked = winner ? (winner.script.talks ?? 60) : 0;
      at((elapsed = here ? elapsed + talked : gives_up));
      if (winner) await winner.report('completed', { CallDuration: String(talked) });
      if (!action) return undefined;
      const [first] = legs;
      let status = legs.length === 1 ? first!.ended : 'no-answer';
      if (winner) status = 'completed';
      const end = {
        ...caller,
        CallStatus: here ? 'in-progress' : 'completed',
        DialCallStatus: status,
        ...(!leaves_out.includes('DialBridged') && { DialBridged: String(winner !== undefined) }),
        DialCallSid: (winner ?? first!).base.CallSid,
      };
      return send(action, {
        ...end,
        ...(winner && {
          DialCallDuration: String(talked),
          ...(record && { RecordingUrl: `${RECORDING}-call` }),
        }),
      });
    };

    const accepts = async ({
      noun,
      script,
      base,
    }: {
      noun: Element;
      script: Script;
      base: Record<string, string>;
    }): Promise<boolean> => {
      if (!noun.attributes.url) return true;
      const heard = await send(noun.attributes.url, { ...base, CallStatus: 'in-progress' });
      // Tones are played before anything else.
      const [gather] = heard.children.filter(({ name }) => name !== 'Play');
      if (gather?.name !== 'Gather') return !gather;
      played.prompts.push(...gather.children.map(({ text }) => text));
      if (script.key === null && gather.attributes.actionOnEmptyResult !== 'true') return false;
      const answer = await send(gather.attributes.action!, { ...base, Digits: script.key ?? '' });
      return answer.children.length === 0;
    };

    await run(await send(hook('voice'), { ...caller, CallStatus: 'ringing' }));
    for (const report of withheld) await report();
    await send(hook('voice_status'), {
      ...caller,
      CallStatus: played.rejected ? 'busy' : 'completed',
      CallDuration: String(elapsed),
    });
    return played;
  };

  return { placeCall, post, twiml, hook };
}
