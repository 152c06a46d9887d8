import type { Candidate } from './candidate';
import type { Verdict } from './decision';
import { once } from './eligibility';
import type { Fault } from './reasons';
import { wayOf, type Choice, type Ordered } from './route';

// Formats a decision with all its buyers. An explanation of a thousand buyers has 280 kB: building
// objects first would be most of its cost, and the text about a buyer is nearly equal for every
// call. A test compares it with the text of `buildDecision`.

/** Candidates in one part of the text: V8 builds and encodes strings of a few kilobytes fastest. */
const IN_A_PART = 32;

interface Known {
  /** Up to the reason. */
  head: string;
  /** Up to the rank, for a candidate that can take the call. */
  open: string;
  /** From the order on, for a candidate that can take the call and is not chosen. */
  tail: string;
}

/** A candidate is immutable: its cached texts stay valid. */
const known_of = new WeakMap<Candidate, Known>();

/** A decision as JSON, in parts to be joined. Pure. */
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
  let last: Choice | undefined;
  let weighed = '';
  for (const choice of choices) {
    rank++;
    if (!last || !isWeighedAs(last, choice)) weighed = textOfWeight(choice);
    last = choice;
    const drawn = `${rank}${weighed}${orNull(choice.draw)}`;
    for (const { buyer } of choice.members) {
      const { open, tail } = knownOf(buyer);
      add(open + drawn + (dialed.has(buyer.id) ? chosen(tail) : tail));
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
  const { id, name, route_by_type } = buyer;
  const head = `{"buyer_id":${id},"name":${JSON.stringify(name)},"reason":`;
  const known = {
    head,
    open: `${head}null,"message":null,"details":null,"rank":`,
    tail:
      `,"route_by_type":"${route_by_type}","buyer_group_id":${wayOf(buyer)?.id ?? null}` +
      NOT_CHOSEN,
  };
  known_of.set(buyer, known);
  return known;
}

const NOT_CHOSEN = ',"chosen":false}';
const chosen = (tail: string): string => `${tail.slice(0, -NOT_CHOSEN.length)},"chosen":true}`;

/** Mostly true for neighbors, which are in the order of tiers. */
const isWeighedAs = (one: Choice, other: Choice): boolean =>
  one.tier === other.tier && one.weight === other.weight && one.share === other.share;

const textOfWeight = ({ tier, weight, share }: Choice): string =>
  `,"tier":${tier},"weight":${weight},"share":${share},"draw":`;

const textOfFault = ({ reason, message, details = null }: Fault): string =>
  `"${reason}","message":${JSON.stringify(message)},"details":${JSON.stringify(details)}` +
  ',"rank":null,"tier":';

/** A buyer without weight draws infinity, for which JSON has no number. */
const orNull = (draw: number): number | null => (draw === Infinity ? null : draw);
