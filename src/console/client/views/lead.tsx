import { ok, withTag, type Schemas } from '../api';
import { Badge, Facts, Panel, Show } from '../parts/basics';
import { dayTime, text, words } from '../format';
import { useLive, useLoaded } from '../loading';
import { linkTo } from '../route';
import { useSession } from '../session';
import { CallerActions } from '../calls/caller-actions';
import { UpdateForm } from '../noun/update-form';
import type { Json } from '../transport';
import { LEAD_FIELDS } from './lead-layout';
import { LeadActions } from './lead-actions';

/** A lead with its history, its future steps and its actions. */
export function LeadView({ id }: { id: string }) {
  const { api } = useSession();
  const loaded = useLoaded(async () => {
    const params = { path: { id } };
    const [{ data, tag }, { timeline }] = await Promise.all([
      withTag(api.GET('/leads/{id}', { params })),
      ok(api.GET('/leads/{id}/timeline', { params })),
    ]);
    return { lead: data.lead, tag, timeline };
  }, [api, id]);
  useLive(({ kind, data }) => kind === 'lead' && String(data.lead_id) === id, loaded.reload);
  return (
    <>
      <p>
        <a href={linkTo('leads')}>All leads</a>
      </p>
      <Show of={loaded}>
        {({ lead, tag, timeline }) => (
          <>
            <div class="title">
              <h1>{lead.full_name ?? `Lead ${lead.id}`}</h1>
              <Badge tone={lead.is_live ? 'good' : 'plain'}>{lead.human_status}</Badge>
              {lead.opt_out && <Badge tone="bad">opted out</Badge>}
              {lead.blocked && <Badge tone="bad">blocked</Badge>}
            </div>
            {lead.caller_id && (
              <CallerActions number={lead.caller_id} offerId={lead.offer_id ?? null} />
            )}
            <LeadActions lead={lead} tag={tag} reload={loaded.reload} />
            <div class="grid">
              <Panel title="What will happen">
                <Future steps={timeline.future} />
              </Panel>
              <div class="stack">
                <Panel title="What happened">
                  <Past events={timeline.past} />
                </Panel>
                <About lead={lead} />
              </div>
            </div>
            <UpdateForm
              layout={LEAD_FIELDS}
              record={lead as unknown as Json}
              tag={tag}
              reload={loaded.reload}
            />
          </>
        )}
      </Show>
    </>
  );
}

const About = ({ lead }: { lead: Schemas['Lead'] }) => (
  <Panel title="About">
    <Facts
      facts={[
        ['Number', text(lead.caller_id)],
        ['E-mail', text(lead.email)],
        ['Came in', dayTime(lead.created_at)],
        ['Time zone', text(lead.time_zone)],
        ['Next action', dayTime(lead.next_action_at)],
        [
          'Leaves after',
          lead.hours_to_expire ? `${lead.hours_to_expire} hours` : 'see its schedule',
        ],
        ['Tokens', formatTokens(lead.data)],
      ]}
    />
  </Panel>
);

const formatTokens = (tokens: Record<string, unknown> | undefined | null): string =>
  Object.entries(tokens ?? {})
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(', ') || 'none';

function Past({ events }: { events: Schemas['Timeline']['past'] }) {
  if (events.length === 0) return <p class="quiet">Nothing has happened.</p>;
  return (
    <ol class="story">
      {events.map(({ at, event, message }, n) => (
        <li key={n}>
          <time dateTime={at ?? ''}>{dayTime(at)}</time>
          <span>
            <b>{words(event)}</b>
            {message && <span class="quiet"> {message}</span>}
          </span>
        </li>
      ))}
    </ol>
  );
}

function Future({ steps }: { steps: Schemas['Timeline']['future'] }) {
  if (steps.length === 0) return <p class="quiet">Nothing more will be done.</p>;
  return (
    <ol class="story">
      {steps.map((step, n) => (
        <li key={n}>
          <time dateTime={step.at ?? ''}>{step.at ? dayTime(step.at) : 'never'}</time>
          <span>
            <b>{words(step.action)}</b> {step.name}
            {step.blocked_by && <Badge tone="bad">{words(step.blocked_by)}</Badge>}
            {step.delayed_by && <Badge tone="warn">{words(step.delayed_by)}</Badge>}
            {step.message && <span class="quiet"> {step.message}</span>}
            {step.text && <q>{step.text}</q>}
          </span>
        </li>
      ))}
    </ol>
  );
}
