import { useState } from 'preact/hooks';
import { Dialog } from './dialog';
import { COMMON_ZONES, ZoneInput } from './form/zones';
import { browserZone, chooseZone, currentZone, isZone } from './zone';

/** Chooses the zone of all times of the console. */
export function ZoneChoice({ onClose }: { onClose: () => void }) {
  const [typed, setTyped] = useState(currentZone());
  const zone = COMMON_ZONES[typed] ?? typed;
  const isKnown = isZone(zone);
  const submit = (event: Event) => {
    event.preventDefault();
    if (!isKnown) return;
    chooseZone(zone);
    onClose();
  };
  return (
    <Dialog title="Time zone" onClose={onClose}>
      <form onSubmit={submit}>
        <p class="quiet">
          All times of the console are in this zone. Your browser is in {browserZone()}.
        </p>
        <div class="field">
          <label for="zone">Zone</label>
          <ZoneInput
            id="zone"
            value={typed}
            aria-invalid={!isKnown}
            aria-describedby="zone-fault"
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
          <small class="error" id="zone-fault">
            {!isKnown && 'Choose a time zone of the list.'}
          </small>
        </div>
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
