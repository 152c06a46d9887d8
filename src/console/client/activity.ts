/** For so long after an input a person counts as present. */
const PRESENT_MS = 60_000;

const INPUTS = ['pointerdown', 'pointermove', 'keydown', 'wheel'];

let lastInputAt = 0;
for (const type of INPUTS)
  addEventListener(type, () => void (lastInputAt = Date.now()), { passive: true });
/** Loading the page is an act of a person. */
lastInputAt = Date.now();

/** The header of a request that the page sends by itself: it does not keep a session alive. */
export const BACKGROUND = { 'X-Background': 'true' } as const;

/**
 * The page loads by itself what has changed, also on a screen that was left: only the presence of a
 * person keeps a session alive.
 */
export const listPresenceHeaders = (): Readonly<Record<string, string>> =>
  Date.now() - lastInputAt < PRESENT_MS ? {} : BACKGROUND;
