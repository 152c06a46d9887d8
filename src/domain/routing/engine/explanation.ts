import type { Candidate } from './candidate';
import type { Verdict } from './decision';
import { memoize } from './eligibility';
import type { Fault } from './reasons';
import { bestGroup, type Choice, type Ordered } from './route';

// Formats a decision with all its buyers. An explanation of a thousand buyers has 280 kB: building
// objects first would be most of its cost, and the text about a buyer is nearly equal for every
// call. A test compares it with the text of `buildDecision`.

/** Candidates in one part of the text: V8 builds and encodes strings of a few kilobytes fastest. */
const PART_SIZE = 32;

interface CandidateTexts {
  /** Up to the reason. */
  head: string;
  /** Up to the rank, for a candidate that can take the call. */
  open: string;
  /** From the order on, for a candidate that can take the call and is not chosen. */
  tail: string;
}

/** A candidate is immutable: its cached texts stay valid. */
const textCache = new WeakMap<Candidate, CandidateTexts>();

/** A decision as JSON, in parts to be joined. Pure. */
export function formatDecision(verdict: Verdict, { choices, passed_over }: Ordered): string[] {
  const parts = [`${JSON.stringify(verdict).slice(0, -1)},"candidates":[`];
  const dialed = new Set(verdict.buyer_ids);
  let part = '';
  let count = 0;
  const add = (text: string) => {
    part += count === 0 ? text : `,${text}`;
    if (++count % PART_SIZE > 0) return;
    parts.push(part);
    part = '';
  };
  let rank = 0;
  let last: Choice | undefined;
  let weighed = '';
  for (const choice of choices) {
    rank++;
    if (!last || !isWeighedAs(last, choice)) weighed = formatWeight(choice);
    last = choice;
    const drawn = `${rank}${weighed}${toJsonDraw(choice.draw)}`;
    for (const { buyer } of choice.members) {
      const { open, tail } = getTexts(buyer);
      add(open + drawn + (dialed.has(buyer.id) ? markChosen(tail) : tail));
    }
  }
  const faultText = memoize(formatFault);
  for (const { buyer, tier, fault } of passed_over)
    add(
      `${getTexts(buyer).head}${faultText(fault)}${tier},"weight":${buyer.weight}` +
        `,"share":null,"draw":null,"route_by_type":"${buyer.route_by_type}"` +
        ',"buyer_group_id":null,"chosen":false}',
    );
  parts.push(`${part}]}`);
  return parts;
}

function getTexts(buyer: Candidate): CandidateTexts {
  const cached = textCache.get(buyer);
  if (cached) return cached;
  const { id, name, route_by_type } = buyer;
  const head = `{"buyer_id":${id},"name":${JSON.stringify(name)},"reason":`;
  const texts = {
    head,
    open: `${head}null,"message":null,"details":null,"rank":`,
    tail:
      `,"route_by_type":"${route_by_type}","buyer_group_id":${bestGroup(buyer)?.id ?? null}` +
      NOT_CHOSEN,
  };
  textCache.set(buyer, texts);
  return texts;
}

const NOT_CHOSEN = ',"chosen":false}';
const markChosen = (tail: string): string => `${tail.slice(0, -NOT_CHOSEN.length)},"chosen":true}`;

/** Mostly true for neighbors, which are in the order of tiers. */
const isWeighedAs = (first: Choice, second: Choice): boolean =>
  first.tier === second.tier && first.weight === second.weight && first.share === second.share;

const formatWeight = ({ tier, weight, share }: Choice): string =>
  `,"tier":${tier},"weight":${weight},"share":${share},"draw":`;

const formatFault = ({ reason, message, details = null }: Fault): string =>
  `"${reason}","message":${JSON.stringify(message)},"details":${JSON.stringify(details)}` +
  ',"rank":null,"tier":';

/** A buyer without weight draws infinity, for which JSON has no number. */
const toJsonDraw = (draw: number): number | null => (draw === Infinity ? null : draw);
