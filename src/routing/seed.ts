import { randomBytes } from 'node:crypto';

/** What a decision is drawn with: kept with it, so that it can be drawn again. */
export const newSeed = (): string => randomBytes(8).toString('hex');
