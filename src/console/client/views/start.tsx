import { useState } from 'preact/hooks';
import type { FirstDay } from '../first-day';
import { linkTo } from '../route';
import { Badge, Panel } from '../parts/basics';
import { browserZone, chooseZone, useZone } from '../zone';
import { ZoneChoice } from '../zone-choice';
import { PracticeNotice } from './practice-notice';

/** The steps from an empty company to its first call. */
export const StartView = ({ day: { steps, is_done } }: { day: FirstDay }) => (
  <>
    <h1>First steps</h1>
    <p class="quiet">
      {is_done
        ? 'All is done: calls come in, and go to your buyers.'
        : 'From here to your first call. Each step is ticked off by itself.'}
    </p>
    {!is_done && <PracticeNotice />}
    <ZoneNotice />
    <ol class="first-steps">
      {steps.map(({ title, about, state, button }) => (
        <li key={title}>
          <Panel
            title={title}
            headerContent={
              <Badge tone={state === undefined ? 'warn' : 'good'}>
                {state === undefined ? 'to do' : 'done'}
              </Badge>
            }
          >
            <p class="quiet">{about}</p>
            {state === undefined ? (
              <a class="button primary" href={linkTo(...button.link)}>
                {button.title}
              </a>
            ) : (
              <p>{state}</p>
            )}
          </Panel>
        </li>
      ))}
    </ol>
  </>
);

/** Says on the first day in which zone all times are, and sets another by one click. */
function ZoneNotice() {
  const zone = useZone();
  const [isOpen, setOpen] = useState(false);
  const own = browserZone();
  return (
    <p>
      All times and days of this console are in {zone}
      {zone === own ? ', the zone of your browser.' : '.'} Each buyer, source and schedule has a
      zone of its own for its hours and caps: look at it when you make one.{' '}
      {zone !== own && (
        <button type="button" class="primary" onClick={() => chooseZone(own)}>
          Use {own}
        </button>
      )}{' '}
      <button type="button" onClick={() => setOpen(true)}>
        Another zone
      </button>
      {isOpen && <ZoneChoice onClose={() => setOpen(false)} />}
    </p>
  );
}
