import { useState } from 'preact/hooks';
import { findNoun } from '../../contract';
import { useAction, useLoaded } from '../../loading';
import { mayDo } from '../../noun/access';
import { Panel, Problem } from '../../parts/basics';
import { LabeledReference } from '../../parts/labeled-reference';
import { Select } from '../../parts/select';
import { goTo, linkTo, useRoute } from '../../route';
import { useSession } from '../../session';
import { showToast } from '../../toast';
import { PeriodChoice, toPeriod } from '../../table/period';
import { send, type Json } from '../../transport';
import { currentZone } from '../../zone';
import type { AccountOwner } from './account-buttons';
import { loadPreview } from './preview';
import { StatementPreview } from './statement-preview';

const OWNERS: Readonly<Record<AccountOwner, string>> = {
  buyer_id: 'A buyer',
  traffic_source_id: 'A source',
};
const NOUNS: Readonly<Record<AccountOwner, string>> = {
  buyer_id: 'buyers',
  traffic_source_id: 'traffic_sources',
};

/** Draws up a statement of one account for days of the console's zone. */
export function NewStatement() {
  const session = useSession();
  const { query } = useRoute();
  const [owner, setOwner] = useState<AccountOwner>(
    query.has('traffic_source_id') ? 'traffic_source_id' : 'buyer_id',
  );
  const [id, setId] = useState(query.get(owner) ?? '');
  const [period, changePeriod] = usePeriod();
  const { created_at_from: from, created_at_to: lastMoment } = period;
  const isComplete = id !== '' && from !== undefined && lastMoment !== undefined;
  const mayLook = session.may('account_entries:read', 'statements:read');
  const preview = useLoaded(
    async () =>
      isComplete && mayLook
        ? loadPreview(session.transport, { owner, id, from, to: endPeriod(lastMoment) })
        : undefined,
    [owner, id, from, lastMoment],
  );
  const draw = useAction(async () => {
    const { data } = await send(session.transport, 'POST', '/statements', {
      body: {
        [owner]: id,
        from,
        to: endPeriod(lastMoment!),
        time_zone: currentZone(),
      },
    });
    showToast('The statement is drawn up.');
    goTo(linkTo('statements', String((data.statement as Json).id)));
  });
  if (!mayDo(session, findNoun(session.contract, 'statements'), 'create')) return null;
  const submit = (event: Event) => {
    event.preventDefault();
    void draw.run();
  };
  return (
    <Panel title="Draw up a statement" wide>
      <form onSubmit={submit}>
        <div class="toolbar">
          <Select
            label="For"
            choices={OWNERS}
            value={owner}
            onChange={(value) => {
              setOwner(value as AccountOwner);
              setId('');
            }}
          />
          <LabeledReference
            label={owner === 'buyer_id' ? 'Buyer' : 'Source'}
            noun={NOUNS[owner]}
            value={id}
            onChange={setId}
          />
          <PeriodChoice filters={period} change={changePeriod} isRequired />
        </div>
        <p class="quiet">
          A period that is not over yet is drawn up until two minutes ago. Once it is drawn up, your
          webhooks for statements are sent it, and it can be neither changed nor withdrawn.
        </p>
        {isComplete && <StatementPreview loaded={preview} />}
        <Problem error={draw.error} />
        <button class="primary" disabled={draw.is_busy || !isComplete}>
          Draw up
        </button>
      </form>
    </Panel>
  );
}

type Filters = Readonly<Record<string, string>>;

function usePeriod() {
  const [period, setPeriod] = useState<Filters>(() => {
    const { from, to } = toPeriod('last_month')!;
    return { created_at_from: from, created_at_to: to };
  });
  const change = (changes: Readonly<Record<string, string | null>>) =>
    setPeriod((before) => {
      const next = Object.entries({ ...before, ...changes });
      return Object.fromEntries(next.filter((entry): entry is [string, string] => !!entry[1]));
    });
  return [period, change] as const;
}

/**
 * Periods end with their last moment, a statement with the moment after it. What is not over yet is
 * drawn up as far as the API allows: to a minute ago. The second minute is for clocks that differ.
 */
export function endPeriod(to: string, now = Date.now()): string {
  const latest = Math.floor(now / MINUTE_MS - 2) * MINUTE_MS;
  return new Date(Math.min(Date.parse(to) + 1, latest)).toISOString();
}

const MINUTE_MS = 60_000;
