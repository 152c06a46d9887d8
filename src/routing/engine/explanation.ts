import type { Candidate } from './candidate';
import type { Verdict } from './decision';
import { once } from './eligibility';
import type { Fault } from './reasons';
import { wayOf, type Ordered } from './route';

// A decision with all its buyers as text. An explanation of a thousand buyers is 280 kB: objects
// that are made to be turned into text are most of its cost, and what the text says of a buyer is
// nearly the same for every call. A test compares it with the text of `decisionOf`.

/** Candidates in one part of the text: V8 makes and encodes strings of some kilobytes best. */
const IN_A_PART = 32;

/** What is the same in every text about a candidate that can take the call. */
interface Known {
  /** Up to its reason. */
  head: string;
  /** From its order on, without whether it is chosen. */
  tail: string;
}

/** A candidate is never changed: what is cached of it always holds. */
const known_of = new WeakMap<Candidate, Known>();

/** A decision as JSON, in parts that are to be joined. Pure. */
export function decisionParts(verdict: Verdict, { choices, passed_over }: Ordered): string[] {
  const parts = [`${JSON.stringify(verdict).slice(0, -1)},"candidates":[`];
  const dialed = new Set(verdict.buyer_ids);
  let part = '';
  let count = 0;
  const add = (text: string) => {
    part += count === 0 ? text : `,${text}`;
    if (++count % IN_A_PART > 0) return;
    parts.push(part);
    part = '';
  };
  let rank = 0;
  for (const { members, tier, weight, share, draw } of choices) {
    rank++;
    const rest = `,"tier":${tier},"weight":${weight},"share":${share},"draw":${orNull(draw)}`;
    for (const { buyer } of members) {
      const { head, tail } = knownOf(buyer);
      add(`${head}${NO_FAULT}${rank}${rest}${tail}${dialed.has(buyer.id)}}`);
    }
  }
  const faultText = once(textOfFault);
  for (const { buyer, tier, fault } of passed_over)
    add(
      `${knownOf(buyer).head}${faultText(fault)}${tier},"weight":${buyer.weight}` +
        `,"share":null,"draw":null,"route_by_type":"${buyer.route_by_type}"` +
        ',"buyer_group_id":null,"chosen":false}',
    );
  parts.push(`${part}]}`);
  return parts;
}

function knownOf(buyer: Candidate): Known {
  const cached = known_of.get(buyer);
  if (cached) return cached;
  const known = {
    head: `{"buyer_id":${buyer.id},"name":${JSON.stringify(buyer.name)},"reason":`,
    tail:
      `,"route_by_type":"${buyer.route_by_type}","buyer_group_id":${wayOf(buyer)?.id ?? null}` +
      ',"chosen":',
  };
  known_of.set(buyer, known);
  return known;
}

const NO_FAULT = 'null,"message":null,"details":null,"rank":';

const textOfFault = ({ reason, message, details = null }: Fault): string =>
  `"${reason}","message":${JSON.stringify(message)},"details":${JSON.stringify(details)}` +
  ',"rank":null,"tier":';

/** A buyer without weight draws infinity, for which JSON has no number. */
const orNull = (draw: number): number | null => (draw === Infinity ? null : draw);
