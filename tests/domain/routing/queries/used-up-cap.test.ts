import { CAPS, type Metric } from '../../../../src/domain/caps/caps';
import { USED_UP_CAP } from '../../../../src/domain/caps/queries/used-up-cap';

/** The statement with single spaces, to compare without its line breaks. */
const TEXT = USED_UP_CAP.text.replace(/\s+/g, ' ');
const PENDING: Record<Metric, string> = {
  attempt: '',
  connection: ' + coalesce(l.pending_connections, 0)',
  buyer_conversion: ' + coalesce(l.pending_conversions, 0)',
  revenue: ' + coalesce(l.pending_revenue, 0)',
  earned_revenue: ' + coalesce(l.pending_revenue, 0)',
};

describe('the join that finds a cap that is used up', () => {
  test.each(CAPS)('has the $interval cap on $metric', ({ metric, interval, limit, used }) => {
    const name = `${metric}_${interval}`;
    const column = `${interval === 'hourly' ? 'hourly' : 'l'}.${limit}`;
    const counter =
      interval === 'total'
        ? `coalesce(l.${used}, 0)`
        : `CASE WHEN l.${interval}_resets_at > {now}::timestamptz THEN l.${used} ELSE 0 END`;
    expect(TEXT).toContain(`${counter}${PENDING[metric]} AS ${name}`);
    expect(TEXT).toContain(`${column} IS NOT NULL AND taken.${name} >= ${column} AS ${name}`);
    expect(TEXT).toContain(`WHEN '${name}' THEN taken.${name}`);
    expect(TEXT).toContain(`WHEN '${name}' THEN ${column}`);
  });

  test('tries the caps in order, then those of dollars with what the call may bring', () => {
    const tried = [...TEXT.matchAll(/WHEN reached\.(\w+) THEN '(\w+)'/g)];
    const names = CAPS.map(({ metric, interval }) => `${metric}_${interval}`);
    expect(tried.map(([, column]) => column)).toEqual(names);
    expect(tried.map(([, , cap]) => cap)).toEqual(names);
    const dollars = [...TEXT.matchAll(/taken\.(\w+) \+ pays\.revenue > (\w+\.\w+) THEN '(\w+)'/g)];
    const ofDollars = CAPS.filter(({ metric }) => metric.endsWith('revenue'));
    expect(dollars.map(([, counter, limit, cap]) => [counter, limit, cap])).toEqual(
      ofDollars.map(({ metric, interval, limit }) => {
        const name = `${metric}_${interval}`;
        return [name, `${interval === 'hourly' ? 'hourly' : 'l'}.${limit}`, name];
      }),
    );
  });

  test.each(['total', 'monthly', 'daily', 'hourly'])('frees with the %s window', (interval) => {
    const reached = CAPS.filter((cap) => cap.interval === interval)
      .map(({ metric }) => `reached.${metric}_${interval}`)
      .join(' OR ');
    const freed = interval === 'total' ? 'NULL' : `l.${interval}_resets_at`;
    expect(TEXT).toContain(`WHEN ${reached} THEN ${freed}`);
  });
});
