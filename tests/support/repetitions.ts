/**
 * How many of something a test does: few in `npm test`, all in `npm run test:long`, which runs the
 * files that import this one.
 */
export const repetitions = (few: number, all: number): number =>
  process.env.TEST_LONG === 'yes' ? all : few;

/**
 * Every n-th of what the contract has many of, such as its operations; with `npm run test:long` all
 * of them. Another `start` takes others.
 */
export const selectSample = <T>(all: readonly T[], nth: number, start = 0): T[] =>
  all.filter((_, index) => index % repetitions(nth, 1) === start % repetitions(nth, 1));
