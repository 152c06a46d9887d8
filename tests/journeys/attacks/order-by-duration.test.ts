import { readFileSync } from 'node:fs';
import { softswitch } from '../../support/softswitch';

// The attack: calls by their total duration while some are in progress. What these show grows, so
// that it cannot be what they are sorted by, and nothing said so: they come as without a duration.

const here = softswitch('2026-06-01T16:00:00Z');
const { ok, report, later } = here;

test('calls by total_duration have those in progress at one end, on every page', async () => {
  const offer = await here.offer({ buyer_ids: [await here.buyer()] });
  const begin = (n: number) => here.begin(offer, { caller_number: `+1310555019${n}` });
  const running = [await begin(1), await begin(2)];
  later(100);
  const ended = [];
  for (const duration of [30, 10, 20]) {
    const call = await begin(duration / 10 + 2);
    await report(call, 'answered');
    later(duration);
    await report(call, 'completed', { duration });
    ended.push({ id: call.id as number, duration });
  }
  const byDuration = ended.toSorted((a, b) => a.duration - b.duration).map(({ id }) => id);
  const ascending = [...byDuration, ...running.map(({ id }) => id as number)];
  for (const [orderDir, expected] of [
    ['asc', ascending],
    ['desc', ascending.toReversed()],
  ] as const) {
    const pagedIds: number[] = [];
    let cursor: number | string = -1;
    while (cursor !== 0) {
      const page = await ok(
        'get',
        `calls?order=total_duration&order_dir=${orderDir}&per_page=2&cursor=${cursor}`,
      );
      pagedIds.push(...page.calls.map(({ id }: { id: number }) => id));
      cursor = page.metadata.next_cursor;
    }
    expect(pagedIds).toEqual(expected);
  }
  const contract = readFileSync('openapi.yaml', 'utf8');
  expect(contract).toMatch(/By `total_duration`, calls in progress and ended ones/);
});
