import { randomBytes } from 'node:crypto';

/** A new seed for the draw of a decision. It is stored with the decision, to repeat the draw. */
export const newSeed = (): string => randomBytes(8).toString('hex');
