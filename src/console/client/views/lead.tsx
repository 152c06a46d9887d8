import type { Schemas } from '../api';
import { Badge, Facts, Panel, Show } from '../parts/basics';
import { LeadFuture, LeadPast } from '../parts/story';
import { dayTime, text } from '../format';
import { useLead } from '../calls/load-lead';
import { linkTo } from '../route';
import { CallerActions } from '../calls/caller-actions';
import { UpdateForm } from '../noun/update-form';
import type { Json } from '../transport';
import { LEAD_FIELDS } from './lead-layout';
import { LeadActions } from './lead-actions';

/** A lead with its history, its future steps and its actions. */
export function LeadView({ id }: { id: string }) {
  const loaded = useLead(id);
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
                <LeadFuture steps={timeline.future} status={lead.status} />
              </Panel>
              <div class="stack">
                <Panel title="What happened">
                  <LeadPast events={timeline.past} />
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
