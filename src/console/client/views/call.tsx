import { ok, type Schemas } from '../api';
import { Badge, Facts, Panel, Show } from '../parts/basics';
import { DecisionDetails } from '../parts/decision';
import { dayTime, dollars, duration, text, time, words } from '../format';
import { useLive, useLoaded } from '../loading';
import { linkTo } from '../route';
import { useSession } from '../session';
import { WhatIf } from './what-if';

/** The history of a call, with its routing decisions. */
export function CallView({ id }: { id: string }) {
  const { api } = useSession();
  const loaded = useLoaded(async () => {
    const params = { path: { id } };
    const [{ call }, { call_events }, { decisions, billing }] = await Promise.all([
      ok(api.GET('/calls/{id}', { params })),
      ok(api.GET('/calls/{id}/events', { params: { ...params, query: { per_page: 1_000 } } })),
      ok(api.GET('/calls/{id}/decision', { params })),
    ]);
    return { call, call_events, decisions, billing };
  }, [api, id]);
  useLive(({ kind, data }) => kind === 'call' && String(data.call_id) === id, loaded.reload);
  return (
    <>
      <p>
        <a href={linkTo('calls')}>All calls</a>
      </p>
      <Show of={loaded}>
        {({ call, call_events, decisions, billing }) => (
          <>
            <div class="title">
              <h1>Call {call.id}</h1>
              <Badge tone={call.buyer_converted ? 'good' : 'plain'}>
                {call.buyer_converted ? 'paid' : words(call.status)}
              </Badge>
              {call.sandbox && <Badge tone="bad">sandbox: no telephone rang</Badge>}
            </div>
            <div class="grid">
              <About call={call} />
              <Panel title="What happened">
                <Story events={call_events} />
              </Panel>
              {billing?.reason && <Unbilled billing={billing} />}
              {decisions.map((decision) => (
                <Panel key={decision.round} title={buildTitle(decision, decisions.length)} wide>
                  <DecisionDetails decision={decision} />
                </Panel>
              ))}
              {call.offer_id !== null && <WhatIf call={call} decision={decisions[0]} />}
            </div>
          </>
        )}
      </Show>
    </>
  );
}

const buildTitle = ({ round }: Schemas['RoutingDecision'], rounds: number): string =>
  rounds === 1 ? 'Why it went there' : `Why it went there, round ${round}`;

const About = ({ call }: { call: Schemas['Call'] }) => (
  <Panel title="About">
    <Facts
      facts={[
        ['Caller', text(call.caller_number)],
        ['Called', text(call.number_called)],
        ['Came in', dayTime(call.created_at)],
        ['Offer', text(call.offer)],
        ['Buyer', <BuyerLink call={call} />],
        ['Source', text(call.traffic_source)],
        ['Duration', duration(call.total_duration)],
        ['Revenue', dollars(call.revenue)],
        ['Payout', dollars(call.payout)],
        [
          'Lead',
          call.lead_id ? <a href={linkTo('leads', call.lead_id)}>{call.lead_id}</a> : 'none',
        ],
        ['Tokens', formatTokens(call.token_values)],
      ]}
    />
  </Panel>
);

const Unbilled = ({ billing }: { billing: Schemas['CallBilling'] }) => (
  <Panel title="Why it was not paid">
    {billing.conversions.length > 1 ? (
      <Facts
        facts={billing.conversions.map(({ name, message }, n) => [
          name ?? `Conversion ${n + 1}`,
          message,
        ])}
      />
    ) : (
      <p>
        <b>{words(billing.reason)}</b>{' '}
        {billing.message && <span class="quiet">{billing.message}</span>}
      </p>
    )}
  </Panel>
);

function BuyerLink({ call }: { call: Schemas['Call'] }) {
  const { may } = useSession();
  if (!call.buyer_id || !may('buyers:read')) return <>{text(call.buyer)}</>;
  return <a href={linkTo('buyers', call.buyer_id)}>{call.buyer ?? `Buyer ${call.buyer_id}`}</a>;
}

const formatTokens = (tokens: Record<string, unknown> | undefined): string =>
  Object.entries(tokens ?? {})
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(', ') || 'none';

/** The events in the order of the API. */
function Story({ events }: { events: readonly Schemas['CallEvent'][] }) {
  return (
    <ol class="story">
      {events.map(({ id, created_at, event, message, buyer }) => (
        <li key={id}>
          <time dateTime={created_at ?? ''}>{time(created_at)}</time>
          <span>
            <b>{words(event)}</b> {buyer && <span>{buyer}</span>}
            {message && <span class="quiet"> {message}</span>}
          </span>
        </li>
      ))}
    </ol>
  );
}
