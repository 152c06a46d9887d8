import type { FirstDay } from '../first-day';
import { linkTo } from '../route';
import { Badge, Panel } from '../parts/basics';
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
