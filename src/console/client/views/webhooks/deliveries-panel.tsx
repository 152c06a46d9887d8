import { useState } from 'preact/hooks';
import { count, dayTime } from '../../format';
import { useAction, useEvery, useLoaded } from '../../loading';
import type { PanelProps } from '../../nouns/layout';
import { Done, Panel, Problem, Show, Table, type Column } from '../../parts/basics';
import { linkTo } from '../../route';
import { useSession } from '../../session';
import { send, type Json } from '../../transport';
import { describeNotes, describeResult } from './delivery';
import { SendAgain } from './send-again';

const MAX_SHOWN = 8;
const REFRESH_MS = 5_000;
const HOUR_MS = 3_600_000;

const COLUMNS: readonly Column<Json>[] = [
  {
    name: 'When',
    of: ({ id, created_at: at }) => (
      <a href={linkTo('webhook_logs', String(id))}>{dayTime(at as string)}</a>
    ),
  },
  { name: 'Result', of: describeResult },
  { name: 'Why', of: describeNotes },
  { name: 'Send again', of: (log) => <SendAgain log={log} /> },
];

/** The last deliveries of a webhook, and a way to send all that failed again. */
export function WebhookDeliveries({ record }: PanelProps) {
  const { transport, may } = useSession();
  const id = String(record.id);
  const loaded = useLoaded(async () => {
    if (!may('webhook_logs:read')) return [];
    const { data } = await send(transport, 'GET', '/webhook_logs', {
      query: { outgoing_webhook_id: id, order_dir: 'desc', per_page: MAX_SHOWN },
    });
    return data.webhook_logs as Json[];
  }, [id]);
  // No event of the stream reports a delivery.
  useEvery(REFRESH_MS, () => void loaded.reload());
  if (!may('webhook_logs:read')) return null;
  return (
    <Panel
      title="Last deliveries"
      headerContent={<a href={linkTo('webhook_logs', null, { outgoing_webhook_id: id })}>All</a>}
    >
      <Show of={loaded}>
        {(logs) => (
          <Table
            caption="Last deliveries"
            columns={COLUMNS}
            rows={logs}
            getKey={(log) => String(log.id)}
            empty="Nothing was sent yet."
          />
        )}
      </Show>
      {may('webhook_logs:update') && <RetryFailed id={id} reload={loaded.reload} />}
    </Panel>
  );
}

const PERIODS: Readonly<Record<string, readonly [title: string, hours: number | undefined]>> = {
  hour: ['of the last hour', 1],
  day: ['of the last day', 24],
  week: ['of the last 7 days', 168],
  all: ['of any time', undefined],
};

interface RetryFailedProps {
  id: string;
  reload: () => Promise<void>;
}

function RetryFailed({ id, reload }: RetryFailedProps) {
  const { transport } = useSession();
  const [period, setPeriod] = useState('day');
  const { run, error, done, is_busy } = useAction(async () => {
    const [title, hours] = PERIODS[period]!;
    if (!confirm(`Send all failed events ${title} to this webhook again?`)) return undefined;
    const body =
      hours === undefined ? {} : { from: new Date(Date.now() - hours * HOUR_MS).toISOString() };
    const path = `/outgoing_webhooks/${id}/redeliver_failed`;
    const { data } = await send(transport, 'POST', path, { body });
    await reload();
    const { redelivered, remaining } = data as { redelivered: number; remaining: number };
    if (redelivered === 0) return 'There are no failed events.';
    const others = remaining > 0 ? ` ${count(remaining)} are left: do it again for them.` : '';
    return `${count(redelivered)} ${redelivered === 1 ? 'event is' : 'events are'} sent again.${others}`;
  });
  return (
    <div class="retry">
      <label>
        Failed events{' '}
        <select value={period} onChange={(event) => setPeriod(event.currentTarget.value)}>
          {Object.entries(PERIODS).map(([name, [title]]) => (
            <option key={name} value={name}>
              {title}
            </option>
          ))}
        </select>
      </label>{' '}
      <button type="button" disabled={is_busy} onClick={() => void run()}>
        Send all failed again
      </button>
      <Problem error={error} />
      <Done text={done} />
    </div>
  );
}
