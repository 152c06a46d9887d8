import type { Scope } from '../api';
import { goTo } from '../route';
import type { Json } from '../transport';
import type { ActionLayout } from './layout';

// Buttons that several nouns have.

/** Sets the counters of the caps without an end back to 0. */
export const buildResetCaps = (noun: string, scope: string): ActionLayout => ({
  title: () => 'Reset total caps',
  scope,
  when: (record) => Object.entries(record).some(isUsedUpTotal),
  run: async ({ record, send, reload }) => {
    if (!confirm('Set the counters of all caps “in all” back to 0?')) return undefined;
    await send('PUT', `/${noun}/${String(record.id)}`, { reset_total_caps: true });
    await reload();
    return 'The counters are 0 again.';
  },
});

const isUsedUpTotal = ([name, value]: [string, unknown]): boolean =>
  name.endsWith('_total_used') && typeof value === 'number' && value > 0;

/** Leads to the page of test calls or leads, filled in for a record. */
export const buildTestLink = (
  title: string,
  scope: Scope,
  link: (record: Json) => string,
): ActionLayout => ({
  title: () => title,
  scope,
  run: async ({ record }) => {
    goTo(link(record));
    return undefined;
  },
});
