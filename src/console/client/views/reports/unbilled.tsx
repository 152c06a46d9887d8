import { ok } from '../../api';
import { count, words } from '../../format';
import { useLoaded } from '../../loading';
import { Panel, Show, Table } from '../../parts/basics';
import { useSession } from '../../session';
import type { ReportFilters } from './state';

/** How many calls no buyer pays for, and why: of millions of calls, later than the report. */
export function UnbilledCalls({ filters }: { filters: ReportFilters }) {
  const { api } = useSession();
  const loaded = useLoaded(
    () => ok(api.GET('/calls/reports', { params: { query: { category: 'offer', ...filters } } })),
    [api, JSON.stringify(filters)],
  );
  return (
    <Show of={loaded}>
      {({ totals: { unbilled_reasons: reasons } }) =>
        reasons && (
          <Panel title="Why calls were not paid">
            <Table
              caption="Calls that no buyer pays for, by reason"
              columns={[
                { name: 'Reason', of: ([reason]: [string, number]) => words(reason) },
                { name: 'Calls', of: ([, calls]: [string, number]) => count(calls), number: true },
              ]}
              rows={Object.entries(reasons).toSorted(([, a], [, b]) => b - a)}
              getKey={([reason]) => reason}
              empty="There are no such calls."
            />
          </Panel>
        )
      }
    </Show>
  );
}
