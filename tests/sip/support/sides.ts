import { startSipp, type Media, type Side } from './sipp';

/** A buyer who answers, one who rings for ever, or one who refuses with this status. */
export type UasKind = 'answers' | 'rings' | `${number} ${string}`;

export interface Uas extends Side {
  /** Its SIP address. */
  address: string;
}

/** Starts a buyer's telephone, which takes any number of calls. */
export async function startUas(kind: UasKind, media?: Media): Promise<Uas> {
  const isStatus = kind !== 'answers' && kind !== 'rings';
  const { side } = await startSipp(
    isStatus
      ? { scenario: 'buyer-refuses', status: kind }
      : { scenario: `buyer-${kind}`, ...(media && { media }) },
  );
  return { ...side, address: `sip:buyer@127.0.0.1:${side.port}` };
}

export interface CallOptions {
  /** The port of the proxy. */
  proxy: number;
  /** The number that is called. */
  number: string;
  count?: number;
  /** Calls a second. */
  rate?: number;
  /** The URIs of the callers, in turn. */
  callers?: readonly string[];
  /** Begins their Call-IDs. */
  id_prefix?: string;
  /** The callers wait for the word to give up, not to hang up. */
  gives_up?: boolean;
  media?: Media;
}

export interface PlacedCalls extends Omit<Side, 'hangUp'> {
  /** The Call-IDs, in order. */
  ids: string[];
  /** Lets callers hang up, or give up; by default all. */
  hangUp(ids?: readonly string[]): Promise<void>;
}

let callerCount = 0;

/** Numbers of fiction: 0100 to 0199 of several area codes. */
function buildCaller(): string {
  const n = callerCount++ % 1_500;
  const area = [201, 202, 203, 205, 206, 207, 208, 209, 212, 213, 214, 215, 216, 217, 218];
  return `sip:+1${area[Math.floor(n / 100)]}5550${100 + (n % 100)}@carrier.invalid`;
}

/** Starts callers. Their calls go on until `hangUp`. */
export async function placeCalls({
  proxy,
  number,
  count = 1,
  rate = 10,
  callers = Array.from({ length: count }, buildCaller),
  id_prefix = '',
  gives_up = false,
  media,
}: CallOptions): Promise<PlacedCalls> {
  const cidFormat = `${id_prefix.replaceAll('%', '%%')}%u-%p@%s`;
  const { side, program } = await startSipp({
    scenario: gives_up ? 'caller-gives-up' : 'caller',
    ...(media && { media }),
    args: ['-s', number, '-m', String(count), '-r', String(rate), '-cid_str', cidFormat],
    files: { '-inf': `SEQUENTIAL\n${callers.map((uri) => `${uri};\n`).join('')}` },
    target: proxy,
  });
  const ids = Array.from(
    { length: count },
    (_, n) => `${id_prefix}${n + 1}-${program.pid}@127.0.0.1`,
  );
  const hangUp = async (callIds: readonly string[] = ids) => {
    await Promise.all(callIds.map((id) => side.hangUp(id)));
  };
  return { ...side, ids, hangUp };
}
