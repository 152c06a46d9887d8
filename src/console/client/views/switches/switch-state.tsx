import { count, dayTime } from '../../format';
import { useEvery, useLoaded } from '../../loading';
import type { PanelProps } from '../../nouns/layout';
import { Facts, Panel, Show, Table } from '../../parts/basics';
import { linkTo } from '../../route';
import { useSession } from '../../session';
import { send, type Json } from '../../transport';

const REFRESH_MS = 10_000;
const MAX_TRUNKS = 1_000;

/** Signs of life of a switch, its calls and commands, and the trunks that it has. */
export function SwitchState({ record, reload }: PanelProps) {
  const { transport, may } = useSession();
  const id = String(record.id);
  const loaded = useLoaded(async () => {
    if (!may('trunks:read')) return [];
    const { data } = await send(transport, 'GET', '/trunks', { query: { per_page: MAX_TRUNKS } });
    return (data.trunks as Json[]).filter(({ switch_id: of }) => String(of) === id);
  }, [id]);
  useEvery(REFRESH_MS, () => void reload());
  const neverAsked = record.asked_at === null && record.webhook_url === null;
  return (
    <Panel title="State">
      {neverAsked && (
        <p class="notice warn">
          It has not asked for commands yet. Its adapter needs the address of this service, a key
          with the permission for operating switches, and the name of the switch.
        </p>
      )}
      <Facts
        facts={[
          ['Asked for commands', dayTime(record.asked_at as string | null)],
          ['Said what is live', dayTime(record.synced_at as string | null)],
          ['Calls under way', count(record.live_calls as number)],
          ['Commands that wait', count(record.open_commands as number)],
        ]}
      />
      <h3>Its trunks</h3>
      <Show of={loaded}>
        {(trunks) => (
          <Table
            caption="Trunks of the switch"
            columns={[
              {
                name: 'Trunk',
                of: ({ id: trunk, name }) => (
                  <a href={linkTo('trunks', String(trunk))}>{String(name)}</a>
                ),
              },
              { name: 'To', of: ({ host }) => String(host) },
              { name: 'Calls', of: ({ calls_in_use: calls }) => count(calls as number) },
            ]}
            rows={trunks}
            getKey={(trunk) => String(trunk.id)}
            empty="It has no trunks of its own: all trunks without a switch lead through it too."
          />
        )}
      </Show>
    </Panel>
  );
}
