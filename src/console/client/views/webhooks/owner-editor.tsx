import { ReferenceInput } from '../../form/combobox';
import type { GroupEditorProps } from '../../nouns/layout';

/** The nouns of owners, with their words. */
const OWNERS: Readonly<Record<string, readonly [words: string, noun?: string]>> = {
  Company: ['Of the whole company'],
  Offer: ['Of one offer', 'offers'],
  Buyer: ['Of one buyer', 'buyers'],
  BuyerGroup: ['Of the buyers in one group', 'buyer_groups'],
  TrafficSource: ['Of one source', 'traffic_sources'],
  ScheduleAction: ['Of one step of a schedule', 'schedule_actions'],
};

/** Whose events are sent: those of the company, or of one record. */
export function OwnerEditor({ inputs, change, errors, disabled, fields }: GroupEditorProps) {
  const type = inputs.owner_type === '' ? 'Company' : String(inputs.owner_type);
  const [words, noun] = OWNERS[type] ?? [type];
  const faults = [...(errors.owner_type ?? []), ...(errors.owner_id ?? [])];
  return (
    <div class="group-fields" data-field="owner_id">
      <div class="field">
        <label for="owner-type">Events</label>
        <select
          id="owner-type"
          disabled={disabled}
          value={type}
          onChange={(event) => {
            change('owner_type', event.currentTarget.value);
            change('owner_id', '');
          }}
        >
          {(fields.owner_type?.enum ?? []).map((name) => (
            <option key={name} value={name}>
              {OWNERS[name]?.[0] ?? name}
            </option>
          ))}
        </select>
        {faults.length > 0 && <small class="error">Events {faults.join('. ')}</small>}
      </div>
      {noun && (
        <div class="field">
          <label for="owner-id">Which</label>
          <ReferenceInput
            key={noun}
            id="owner-id"
            noun={noun}
            value={String(inputs.owner_id ?? '')}
            disabled={disabled}
            invalid={faults.length > 0}
            onChange={(id) => change('owner_id', id)}
          />
          <small class="quiet">{words}.</small>
        </div>
      )}
    </div>
  );
}
