import { words } from '../format';
import type { Json } from '../transport';

/** The columns from which the status of a call is put into words. */
export const STATUS_NEEDS = ['status', 'category', 'attempts_count'] as const;

/** A call that no buyer was rung for ends as `no_answer`, which says that somebody was. */
export function describeStatus({ status, category, attempts_count: attempts }: Json): string {
  const isWithoutBuyer =
    status === 'no_answer' && category === 'inbound' && Number(attempts ?? 1) === 0;
  return isWithoutBuyer ? 'no buyer' : words(status as string | null);
}

export const DIRECTIONS: Readonly<Record<string, string>> = {
  inbound: 'Incoming',
  outbound: 'Outgoing',
};
