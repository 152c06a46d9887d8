import type { EditorProps } from '../nouns/layout';

const EXITS: Readonly<Record<string, string>> = {
  converted: 'A buyer pays for a call of the lead',
  connected: 'A call with the lead is connected',
  inbound_call: 'The lead calls',
  replied: 'The lead answers by text',
  opted_out: 'The number opts out',
};

/** Exit conditions, each as a sentence. */
export function Exits({ id, label, field, value, onChange, disabled }: EditorProps) {
  const chosen = (value ?? []) as string[];
  return (
    <div class="exits" role="group" aria-label={label} id={id}>
      {(field.items?.enum ?? []).map((name) => (
        <label key={name} class="check">
          <input
            type="checkbox"
            disabled={disabled}
            checked={chosen.includes(name)}
            onChange={({ currentTarget: { checked } }) =>
              onChange(checked ? [...chosen, name] : chosen.filter((other) => other !== name))
            }
          />
          {EXITS[name] ?? name}
        </label>
      ))}
    </div>
  );
}
