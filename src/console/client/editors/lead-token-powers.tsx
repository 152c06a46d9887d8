import type { EditorProps } from '../nouns/layout';

/** The powers of a lead token in words. */
const POWERS: Readonly<Record<string, string>> = {
  submit: 'send leads',
  reschedule: 'start the schedule again, or ask for a call at a time',
  replace: 'end or delete the lead that is there',
  update_all: 'change all leads of the number',
  apply_to_calls: 'add its fields to calls of the number',
  block: 'block the number',
  assign_numbers: 'show a number to call',
  opt_out: 'opt the person out',
  remove: 'take the lead off its schedule',
  move_to_end: 'move the lead to the end of its schedule',
  read: 'read the lead of a number',
};

/** All that the company allows, or some of it. */
export function LeadTokenPowers(props: EditorProps) {
  const { id, label, field, value, onChange, disabled, record } = props;
  const powers = (value ?? []) as string[];
  // The form shows "all" as an empty list, as it does for lists that may be missing.
  const isAll = powers.length === 0 && (value === null || !record.lead_token_powers);
  const toggle = (power: string, isOn: boolean) =>
    onChange(isOn ? [...powers, power] : powers.filter((other) => other !== power));
  return (
    <div role="group" aria-label={label} id={id}>
      <label class="check">
        <input
          type="checkbox"
          checked={isAll}
          disabled={disabled}
          onChange={(event) => onChange(event.currentTarget.checked ? null : ['submit'])}
        />
        all that the company allows
      </label>
      {!isAll && (
        <div class="choices">
          {(field.items?.enum ?? []).map((power) => (
            <label key={power} class="check">
              <input
                type="checkbox"
                // One stays: a token that may do nothing is reset instead.
                disabled={disabled || (powers.length === 1 && powers[0] === power)}
                checked={powers.includes(power)}
                onChange={(event) => toggle(power, event.currentTarget.checked)}
              />
              {POWERS[power] ?? power}
            </label>
          ))}
        </div>
      )}
    </div>
  );
}
