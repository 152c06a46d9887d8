import { MOST_ROUNDS } from './replay';
import { ASSUMED, ENOUGH } from './outcome';

const OF_ALL = [
  'Both sides are the same model: what is changed is all that differs. Offer, buyers, groups, lists of suppressed numbers and earnings per call are as they are now, not as they were then.',
  'Caps in windows that run at the beginning, and totals, start with what calls had used of them before; calls of other offers within the time, and calls under way at its beginning, are left out.',
  `A call goes on to the next buyer as often as needed, ${MOST_ROUNDS} times at most.`,
  'A buyer that does not answer rings for its timeout_seconds. A conversion counts at the end of the call, one of a duration of 0 when the buyer is dialed.',
  'A buyer with a conversion of type duration pays by how long the call lasted; one of type postback pays as often as was observed. What is paid is the revenue of the conversion that holds when the buyer is dialed.',
];

const OF_REAL = [
  'Calls come in when they did, from whom they did, with their tokens, and are drawn with the seeds they were drawn with; rounds that did not take place are drawn with the seed of this answer.',
  'A buyer that was really dialed for a call answers and converts as it did, if it answered within its timeout_seconds. Any other answers, and pays by postback, as often as it did in this time.',
  'A call that is connected lasts as long as it did, whoever takes it; one that was never connected as long as some other. Who hung up while it rang does so at the same moment.',
  'A call that was held for a buyer by a ping is decided as any other. Calls that go on are left out.',
];

const OF_SYNTHETIC = [
  'Calls come in at times drawn evenly from the time given, each from a caller whose number is withheld, with the tokens given and without a traffic source.',
  'A buyer answers, and pays by postback, as often as given; else as often as in the 28 days before now. A call lasts as long as given; else as long as one of those.',
];

const OF_RATES = [
  `A rate is the buyer's own from ${ENOUGH} attempts (or connected calls) on; with fewer it is that of all buyers of the offer together; with fewer than ${ENOUGH} of those it is 1.`,
  `Where no call was ever connected, one lasts ${ASSUMED.talked} seconds and is answered after ${ASSUMED.answered_after}.`,
];

/** What an answer rests on, in words. */
export const assumptionsOf = (kind: 'real' | 'synthetic'): string[] => [
  ...OF_ALL,
  ...(kind === 'real' ? OF_REAL : OF_SYNTHETIC),
  ...OF_RATES,
];
