import { useState } from 'preact/hooks';
import { Dialog } from './dialog';
import { Field } from './parts/basics';
import { browserZone, chooseZone, currentZone, isZone } from './zone';

/** Chooses the zone of all times of the console. */
export function ZoneChoice({ onClose }: { onClose: () => void }) {
  const [typed, setTyped] = useState(currentZone());
  const isKnown = isZone(typed);
  const submit = (event: Event) => {
    event.preventDefault();
    if (!isKnown) return;
    chooseZone(typed);
    onClose();
  };
  return (
    <Dialog title="Time zone" onClose={onClose}>
      <form onSubmit={submit}>
        <p class="quiet">
          All times of the console are in this zone. Your browser is in {browserZone()}.
        </p>
        <Field
          label="Zone"
          list="zones"
          value={typed}
          error={isKnown ? undefined : 'There is no such zone: America/New_York is one.'}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        <datalist id="zones">
          {Intl.supportedValuesOf('timeZone').map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <div class="actions">
          <button class="primary">Use this zone</button>
          <button type="button" onClick={() => setTyped(browserZone())}>
            That of my browser
          </button>
        </div>
      </form>
    </Dialog>
  );
}
