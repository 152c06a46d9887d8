import { ReferenceSearch, useTitles } from '../form/combobox';
import { useAction } from '../loading';
import type { PanelProps } from '../nouns/layout';
import { Panel, Problem } from '../parts/basics';
import { linkTo } from '../route';
import { useSession } from '../session';
import { showToast } from '../toast';
import { send } from '../transport';

/** The buyers of a fleet; a buyer is in one fleet at most. */
export function FleetBuyers({ record, reload }: PanelProps) {
  const { transport, may } = useSession();
  const ids = Array.isArray(record.buyer_ids) ? record.buyer_ids.map(String) : [];
  const titles = useTitles('buyers', ids.slice(0, SHOWN));
  const move = useAction(async (id: string, fleet: unknown, text: string) => {
    await send(transport, 'PUT', `/buyers/${id}`, { body: { buyer_fleet_id: fleet } });
    await reload();
    showToast(text);
  });
  if (!may('buyers:read')) return null;
  const mayMove = may('buyers:update', 'buyers:routing');
  return (
    <Panel title="Buyers of the fleet" wide>
      {mayMove && (
        <div class="field wide-field">
          <label for="add-fleet-buyer">Add a buyer</label>
          <ReferenceSearch
            id="add-fleet-buyer"
            noun="buyers"
            shown=""
            disabled={move.is_busy}
            onChoose={({ id, title }) => void move.run(id, record.id, `${title} was added.`)}
          />
        </div>
      )}
      <Problem error={move.error} />
      {ids.length === 0 && <p class="quiet">No buyer is in this fleet.</p>}
      <ul class="chips">
        {ids.slice(0, SHOWN).map((id) => (
          <li key={id} class="chip">
            <a href={linkTo('buyers', id)}>{titles.get(id) ?? `Buyer ${id}`}</a>
            {mayMove && (
              <button
                type="button"
                aria-label={`Take ${titles.get(id) ?? id} off`}
                disabled={move.is_busy}
                onClick={() => void move.run(id, null, 'Taken off.')}
              >
                ×
              </button>
            )}
          </li>
        ))}
      </ul>
      {ids.length > SHOWN && <p class="quiet">and {ids.length - SHOWN} more</p>}
    </Panel>
  );
}

/** More names are for the list of buyers. */
const SHOWN = 200;
