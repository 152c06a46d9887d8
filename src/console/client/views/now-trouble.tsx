import { ok, type Schemas } from '../api';
import { Badge, Panel, Show, Table, type Column } from '../parts/basics';
import { Progress } from '../parts/progress';
import { count, dayTime, localizeTimes, text } from '../format';
import { useEvery, useLive, useLoaded } from '../loading';
import { linkTo } from '../route';
import { useSession } from '../session';

type File = Schemas['BuyerSuppressionFile'];

const OPEN: readonly Schemas['ImportStatus'][] = ['pending', 'running', 'failed'];
const FILE_COLUMNS = [
  'id',
  'name',
  'status',
  'import_percent',
  'import_count',
  'rejected_count',
  'total_count',
  'error_message',
];

export function ImportsInTrouble() {
  const { api } = useSession();
  const loaded = useLoaded(async () => {
    const pages = await Promise.all(
      OPEN.map((status) => {
        const query = { status, columns: FILE_COLUMNS, per_page: 10, order_dir: 'desc' as const };
        return ok(api.GET('/buyer_suppression_files', { params: { query } }));
      }),
    );
    return pages.flatMap(({ buyer_suppression_files }) => buyer_suppression_files);
  }, [api]);
  useLive(({ kind }) => kind === 'import', loaded.reload);
  return (
    <Show of={loaded}>
      {(files) => (
        <Panel
          title="Imports"
          headerContent={<a href={linkTo('buyer_suppression_files')}>All uploads</a>}
        >
          {files.length === 0 && <p class="quiet">None is under way, and none has failed.</p>}
          <ul class="plain">
            {files.map((file: File) => (
              <li key={file.id}>
                <Progress file={file} />
              </li>
            ))}
          </ul>
        </Panel>
      )}
    </Show>
  );
}

const HOUR_MS = 3_600_000;
const REFRESH_MS = 30_000;

interface Trouble {
  id: number;
  name: string;
  why: string;
  is_paused: boolean;
  failures: number;
  last: string | null;
}

/** Webhooks that were paused automatically, or whose deliveries failed within the last hour. */
export function WebhooksInTrouble() {
  const { api, may } = useSession();
  const loaded = useLoaded(async () => {
    const columns = ['id', 'name', 'url', 'paused_reason'];
    const paused = await ok(
      api.GET('/outgoing_webhooks', {
        params: { query: { paused: true, columns, per_page: 100 } },
      }),
    );
    const troubles = new Map<number, Trouble>();
    for (const { id, name, url, paused_reason: why } of paused.outgoing_webhooks)
      if (why)
        troubles.set(id!, {
          id: id!,
          name: name ?? url!,
          why,
          is_paused: true,
          failures: 0,
          last: null,
        });
    if (may('webhook_logs:read')) for (const log of await failures()) add(troubles, log);
    return [...troubles.values()];
  }, [api]);
  const failures = async () => {
    const query = {
      success: false,
      created_at_from: new Date(Date.now() - HOUR_MS).toISOString(),
      columns: ['id', 'outgoing_webhook_id', 'name', 'request_url', 'code', 'notes', 'started_at'],
      per_page: 200,
      order_dir: 'desc' as const,
    };
    return (await ok(api.GET('/webhook_logs', { params: { query } }))).webhook_logs;
  };
  // No event reports a failed delivery.
  useEvery(REFRESH_MS, () => void loaded.reload());
  return (
    <Show of={loaded}>
      {(webhooks) => (
        <Panel title="Webhooks in trouble" headerContent={<Badge>{webhooks.length}</Badge>}>
          <Table
            caption="Webhooks in trouble"
            columns={WEBHOOK_COLUMNS}
            rows={webhooks}
            getKey={({ id }) => id}
            empty="All deliveries of the last hour were accepted."
          />
        </Panel>
      )}
    </Show>
  );
}

function add(troubles: Map<number, Trouble>, log: Schemas['WebhookLog']): void {
  const { outgoing_webhook_id: id, name, request_url, code, notes, started_at } = log;
  const existing = troubles.get(id!);
  if (existing) {
    existing.failures += 1;
    existing.last ??= started_at ?? null;
    return;
  }
  const why = notes ? localizeTimes(notes) : `answered ${text(code)}`;
  const last = started_at ?? null;
  troubles.set(id!, {
    id: id!,
    name: name ?? request_url!,
    why,
    is_paused: false,
    failures: 1,
    last,
  });
}

const WEBHOOK_COLUMNS: readonly Column<Trouble>[] = [
  {
    name: 'Webhook',
    of: ({ id, name, is_paused }) => (
      <>
        <a href={linkTo('outgoing_webhooks', id)}>{name}</a>{' '}
        {is_paused && <Badge tone="bad">paused</Badge>}
      </>
    ),
  },
  { name: 'Why', of: ({ why }) => why },
  { name: 'Failures', of: ({ failures }) => count(failures), number: true },
  { name: 'Last', of: ({ last }) => dayTime(last) },
];
