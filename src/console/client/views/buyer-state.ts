import { comingTime } from '../format';
import type { Json } from '../transport';

// The state of a buyer, group or source, in a word.

/** Columns that say it; groups and sources have no hours. */
export const BUYER_STATE_COLUMNS = ['paused', 'maxed_out_by', 'closed', 'opens_at'] as const;

export const describeClosed = (opensAt: unknown): string =>
  typeof opensAt === 'string' ? `closed until ${comingTime(opensAt)}` : 'closed at all hours';

export function describeBuyerState({ paused, maxed_out_by: cap, closed, opens_at: opensAt }: Json) {
  if (paused) return { text: 'paused', tone: 'warn' } as const;
  if (cap) return { text: 'cap reached', tone: 'bad' } as const;
  if (closed) return { text: describeClosed(opensAt), tone: 'warn' } as const;
  return { text: 'active', tone: 'good' } as const;
}
