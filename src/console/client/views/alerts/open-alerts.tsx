import { dayTime } from '../../format';
import { useEvery, useLoaded } from '../../loading';
import { Badge, Panel, Show } from '../../parts/basics';
import { describeAlert } from '../../parts/decision-words';
import { linkTo } from '../../route';
import { useSession } from '../../session';
import { send, type Json, type Query } from '../../transport';

const MAX_SHOWN = 10;
const REFRESH_MS = 15_000;

interface AlertListProps {
  query: Query;
  empty: string;
}

/** The newest alerts that match, in the words of the API. */
export function AlertList({ query, empty }: AlertListProps) {
  const { transport } = useSession();
  const loaded = useLoaded(async () => {
    const { data } = await send(transport, 'GET', '/alerts', {
      query: { ...query, order_dir: 'desc', per_page: MAX_SHOWN },
    });
    return data.alerts as Json[];
  }, [JSON.stringify(query)]);
  useEvery(REFRESH_MS, () => void loaded.reload());
  return (
    <Show of={loaded}>
      {(alerts) =>
        alerts.length === 0 ? (
          <p class="quiet">{empty}</p>
        ) : (
          <ul class="plain">
            {alerts.map((alert) => (
              <li key={String(alert.id)}>
                {alert.ended_at === null ? <Badge tone="bad">open</Badge> : <Badge>ended</Badge>}{' '}
                <a href={linkTo('alert_rules', String(alert.alert_rule_id))}>
                  {describeAlert(String(alert.message))}
                </a>
                <br />
                <small class="quiet">
                  Since {dayTime(alert.created_at as string)}
                  {alert.ended_at !== null && `, until ${dayTime(alert.ended_at as string)}`}
                </small>
              </li>
            ))}
          </ul>
        )
      }
    </Show>
  );
}

/** The alerts that last, above all that ever were. */
export const OpenAlerts = () => (
  <div class="grid">
    <Panel title="Open now">
      <AlertList query={{ open: true }} empty="Nothing is wrong." />
    </Panel>
  </div>
);
