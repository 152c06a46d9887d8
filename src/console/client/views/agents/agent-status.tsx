import { findNoun } from '../../contract';
import { dayTime, words } from '../../format';
import { useAction, useLoaded } from '../../loading';
import { mayDo } from '../../noun/access';
import type { PanelProps } from '../../nouns/layout';
import { Panel, Problem, Show, Table } from '../../parts/basics';
import { useSession, type Session } from '../../session';
import { send, type Json } from '../../transport';

const MAX_SHOWN = 10;
const MAX_STATUSES = 1_000;

async function loadStatuses(session: Session, agentId: string) {
  const { transport, contract } = session;
  const [statuses, changes] = await Promise.all([
    mayDo(session, findNoun(contract, 'agent_statuses'), 'list')
      ? send(transport, 'GET', '/agent_statuses', {
          query: { order: 'position', order_dir: 'asc', per_page: MAX_STATUSES },
        })
      : undefined,
    mayDo(session, findNoun(contract, 'agent_status_timestamps'), 'list')
      ? send(transport, 'GET', '/agent_status_timestamps', {
          query: { agent_id: agentId, order_dir: 'desc', per_page: MAX_SHOWN },
        })
      : undefined,
  ]);
  return {
    statuses: (statuses?.data.agent_statuses ?? []) as Json[],
    changes: (changes?.data.agent_status_timestamps ?? []) as Json[],
  };
}

/** The status of an agent, the others to choose from, and the last changes. */
export function AgentStatus({ record, reload }: PanelProps) {
  const session = useSession();
  const id = String(record.id);
  const loaded = useLoaded(() => loadStatuses(session, id), [id, record.status_changed_at]);
  const { run, error, is_busy } = useAction(async (key: string) => {
    await send(session.transport, 'PUT', `/agents/${id}/status`, { body: { key } });
    await reload();
  });
  return (
    <Panel title="Status">
      <Problem error={error} />
      <Show of={loaded}>
        {({ statuses, changes }) => (
          <>
            {session.may('agents:update') && (
              <div class="actions" role="group" aria-label="Set the status">
                {statuses.map(({ key, name }) => (
                  <button
                    key={String(key)}
                    type="button"
                    aria-pressed={key === record.status_key}
                    disabled={is_busy}
                    onClick={() => void run(String(key))}
                  >
                    {String(name)}
                  </button>
                ))}
              </div>
            )}
            <Table
              caption="Last changes of the status"
              columns={[
                { name: 'Status', of: ({ key }) => words(key as string) },
                { name: 'From', of: ({ created_at: at }) => dayTime(at as string) },
              ]}
              rows={changes}
              getKey={(change) => String(change.id)}
              empty="The status has not changed yet."
            />
          </>
        )}
      </Show>
    </Panel>
  );
}
