import { useState } from 'preact/hooks';
import type { Schemas } from '../api';
import { Done, Field, Panel, Problem } from '../parts/basics';
import { useAction, useKeptTag } from '../loading';

type Buyer = Schemas['Buyer'];
type Update = Schemas['BuyerUpdate'];

/** The fields that are changed most often. The others are changed with the API. */
const FIELDS = [
  { name: 'weight', label: 'Weight', step: 'any' },
  { name: 'tier', label: 'Tier', step: 'any' },
  { name: 'timeout_seconds', label: 'Rings for, seconds', step: '1' },
  { name: 'concurrency_cap_limit', label: 'Calls at once', step: '1' },
  { name: 'attempt_daily_limit', label: 'Dialed in a day', step: '1' },
  { name: 'connection_daily_limit', label: 'Calls taken in a day', step: '1' },
  { name: 'connection_monthly_limit', label: 'Calls taken in a month', step: '1' },
  { name: 'revenue_daily_limit', label: 'Dollars in a day', step: '0.01' },
] as const;
type Name = (typeof FIELDS)[number]['name'];
type Texts = Record<Name, string>;

const toTexts = (buyer: Buyer): Texts =>
  Object.fromEntries(FIELDS.map(({ name }) => [name, buyer[name]?.toString() ?? ''])) as Texts;

export interface FormProps {
  buyer: Buyer;
  tag: string;
  save: (body: Update, tag: string) => Promise<void>;
  reload: () => void;
}

/** Sends only what was changed: an empty field is no limit. */
export function BuyerForm({ buyer, tag, save, reload }: FormProps) {
  const [changed, setChanged] = useState<Partial<Texts>>({});
  const keptTag = useKeptTag(tag, Object.keys(changed).length > 0);
  const shown = { ...toTexts(buyer), ...changed };
  const { run, is_busy, error, done } = useAction(async () => {
    const entries = Object.entries(changed).map(([name, value]) => [
      name,
      value.trim() === '' ? null : Number(value),
    ]);
    await save(Object.fromEntries(entries) as Update, keptTag);
    setChanged({});
    return 'Saved.';
  });
  const reset = () => {
    setChanged({});
    reload();
  };
  const submit = (event: Event) => {
    event.preventDefault();
    void run();
  };
  return (
    <Panel title="Change">
      <form onSubmit={submit}>
        <div class="fields">
          {FIELDS.map(({ name, label, step }) => (
            <Field
              key={name}
              label={label}
              name={name}
              type="number"
              step={step}
              value={shown[name]}
              onInput={(event) => {
                const { value } = event.currentTarget;
                setChanged((before) => ({ ...before, [name]: value }));
              }}
            />
          ))}
        </div>
        <p class="quiet">An empty limit is no limit.</p>
        <Problem error={error} onReload={reset} />
        <Done text={done} />
        <button class="primary" disabled={is_busy || Object.keys(changed).length === 0}>
          Save
        </button>
      </form>
    </Panel>
  );
}
