/**
 * How many of something a test does: few in `npm test`, all in `npm run test:long`, which runs the
 * files that import this one.
 */
export const repetitions = (few: number, all: number): number =>
  process.env.TEST_LONG === 'yes' ? all : few;
