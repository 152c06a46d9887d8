import type { Schemas } from '../api';
import { dayTime, localizeTimes, time, words } from '../format';
import { Badge } from './basics';

/** The events of a call, in the order of the API. */
export function CallStory({ events }: { events: readonly Schemas['CallEvent'][] }) {
  return (
    <ol class="story">
      {events.map(({ id, created_at, event, message, buyer }) => (
        <li key={id}>
          <time dateTime={created_at ?? ''}>{time(created_at)}</time>
          <span>
            <b>{words(event)}</b> {buyer && <span>{buyer}</span>}
            {message && <span class="quiet"> {localizeTimes(message)}</span>}
          </span>
        </li>
      ))}
    </ol>
  );
}

/** The past of a lead. */
export function LeadPast({ events }: { events: Schemas['Timeline']['past'] }) {
  if (events.length === 0) return <p class="quiet">Nothing has happened.</p>;
  return (
    <ol class="story">
      {events.map(({ at, event, message }, n) => (
        <li key={n}>
          <time dateTime={at ?? ''}>{dayTime(at)}</time>
          <span>
            <b>{words(event)}</b>
            {message && <span class="quiet"> {localizeTimes(message)}</span>}
          </span>
        </li>
      ))}
    </ol>
  );
}

interface LeadFutureProps {
  steps: Schemas['Timeline']['future'];
  status: string | null | undefined;
}

/** The steps that are still to come for a lead. */
export function LeadFuture({ steps, status }: LeadFutureProps) {
  if (steps.length === 0)
    return (
      <p class="quiet">
        {status === 'queue'
          ? 'The lead waits until its person calls.'
          : 'Nothing more will be done.'}
      </p>
    );
  return (
    <ol class="story">
      {steps.map((step, n) => (
        <li key={n}>
          <time dateTime={step.at ?? ''}>{step.at ? dayTime(step.at) : 'never'}</time>
          <span>
            <b>{words(step.action)}</b> {step.name}
            {step.blocked_by && <Badge tone="bad">{words(step.blocked_by)}</Badge>}
            {step.delayed_by && <Badge tone="warn">{words(step.delayed_by)}</Badge>}
            {step.message && <span class="quiet"> {localizeTimes(step.message)}</span>}
            {step.text && <q>{step.text}</q>}
          </span>
        </li>
      ))}
    </ol>
  );
}
