import { cpuMs } from './patience';
import { repetitions } from './repetitions';

/**
 * How long no request may hold the event loop, on a machine as fast as the one of REFERENCE_MS.
 * Within `npm test` other suites fill the processors and this process's heap, of which the garbage
 * collector takes its share: three times as long there. What an attack finds takes seconds.
 */
const MAX_HOLD_MS = repetitions(300, 100);

/** Duration of the work of `calibrate` on that machine. */
const REFERENCE_MS = 60;

/** Parsing, sorting and writing text: what a request does to its body. */
function calibrate(): number {
  const texts = Array.from({ length: 20_000 }, (_, n) => `${(n * 7_919) % 20_011} text ${n}`);
  return cpuMs(() => {
    for (let round = 0; round < 5; round++) {
      const read = JSON.parse(JSON.stringify(texts)) as string[];
      read.toSorted().forEach((text) => /^\d+ text/.test(text));
    }
  });
}

/** The limit for this machine now: more on one that is slower, never less. */
function maxHoldMs(): number {
  const [, median = 0] = [calibrate(), calibrate(), calibrate()].toSorted((a, b) => a - b);
  return MAX_HOLD_MS * Math.max(1, median / REFERENCE_MS);
}

/**
 * The longest time for which the event loop did nothing else while `work` ran, in milliseconds that
 * this process computed: what other programs take of the processor is not counted.
 */
async function longestHold(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let [wall, cpu] = [performance.now(), process.cpuUsage()];
  const tick = () => {
    const { user, system } = process.cpuUsage(cpu);
    longest = Math.max(longest, Math.min(performance.now() - wall, (user + system) / 1000));
    [wall, cpu] = [performance.now(), process.cpuUsage()];
  };
  const timer = setInterval(tick, 1);
  try {
    await work();
    // The turn in which the work ended counts too.
    await new Promise((done) => setTimeout(done, 2));
  } finally {
    clearInterval(timer);
  }
  tick();
  return longest;
}

/** Measured once a test file, and again when something seems to take longer. */
let limitMs = 0;

/**
 * Fails when `work` holds the event loop for longer than the limit, eight times in a row. What
 * comes again each time is of the work, unlike the garbage of the tests.
 */
export async function expectNoHold(work: () => Promise<unknown>, name = 'work'): Promise<void> {
  limitMs ||= maxHoldMs();
  let least = Infinity;
  for (let attempt = 0; attempt < 8 && least > limitMs; attempt++) {
    if (attempt > 0) limitMs = Math.max(limitMs, maxHoldMs());
    least = Math.min(least, await longestHold(work));
  }
  expect({ name, hold: Math.max(least, limitMs) }).toEqual({ name, hold: limitMs });
}
