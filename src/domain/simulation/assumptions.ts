import { DEFAULTS, MIN_OBSERVED } from './outcome';
import { MAX_ROUNDS } from './replay';

const COMMON_ASSUMPTIONS = [
  'Both sides use the same model and differ only in the changes. Offer, buyers, groups, ' +
    'suppression lists and earnings per call are as they are now, not as they were then.',
  'Caps of the windows that run at the beginning, and totals, start with what calls had ' +
    'used of them before. A prepaid buyer starts with its balance of then and with all that was ' +
    'paid in since. Calls of other offers in the period, and calls under way at its ' +
    'beginning, are left out.',
  'A traffic source is paused, is capped, and gives its calls to buyers or not, as it is set up ' +
    'now. Its caps start with all its calls before.',
  `A call goes on to the next buyer as often as needed, at most ${MAX_ROUNDS} times.`,
  'A buyer that does not answer rings for its timeout_seconds. A conversion counts at the ' +
    'end of the call, or when the buyer is dialed if its duration is 0.',
  'A buyer with a conversion of type duration pays by how long the call lasted; one of type ' +
    'postback pays as often as was observed. The amount is the revenue of the conversion that ' +
    'is open when the buyer is dialed.',
];

const REAL_CALL_ASSUMPTIONS = [
  'Calls come in when they did, from the same callers, with their tokens and their seeds. ' +
    'Rounds that did not take place are drawn with the seed of this simulation.',
  'A buyer that was really dialed for a call answers and converts as it did, if it answered ' +
    'within its timeout_seconds. Any other answers, and pays by postback, as often as it did ' +
    'in the period.',
  'A connected call lasts as long as it did, whichever buyer takes it; one that was never ' +
    'connected lasts as long as some other. A caller who hung up while it rang does so at the ' +
    'same moment.',
  'Nobody is asked for a bid: a buyer of type rtb takes the calls for which it really bid, and ' +
    'pays that bid when the call has lasted its duration.',
  'A call with a reservation from a ping is decided like any other call. Calls that have not ' +
    'ended are left out.',
];

const SYNTHETIC_CALL_ASSUMPTIONS = [
  'Calls come in at random times, evenly distributed over the period, each from another ' +
    'caller whose number is withheld, with the tokens of the request and without a traffic ' +
    'source.',
  'Nobody is asked for a bid: buyers of type rtb take no calls.',
  'A buyer answers, and pays by postback, as often as given, or else as often as in the 28 ' +
    'days before now. A call lasts as long as given, or else as long as one of those.',
];

const RATE_ASSUMPTIONS = [
  `A rate is the buyer's own from ${MIN_OBSERVED} attempts (or connected calls) on; with ` +
    `fewer it is that of all buyers of the offer together; with fewer than ${MIN_OBSERVED} of ` +
    'those it is 1.',
  `Where no call was ever connected, a call lasts ${DEFAULTS.talked} seconds and is ` +
    `answered after ${DEFAULTS.answered_after}.`,
];

/** Explains the basis of the figures, for readers of a simulation. */
export const listAssumptions = (kind: 'real' | 'synthetic'): string[] => [
  ...COMMON_ASSUMPTIONS,
  ...(kind === 'real' ? REAL_CALL_ASSUMPTIONS : SYNTHETIC_CALL_ASSUMPTIONS),
  ...RATE_ASSUMPTIONS,
];
