import type { Schemas } from '../api';
import { CallerActions } from '../calls/caller-actions';
import { CALL_NOTES } from '../calls/call-layout';
import { useCall } from '../calls/load-call';
import { MoneyActions } from '../calls/money-actions';
import { Recording } from '../calls/recording';
import { findNoun } from '../contract';
import { useTitles } from '../form/combobox';
import { UpdateForm } from '../noun/update-form';
import { Facts, Panel, Problem, Show } from '../parts/basics';
import { CallBadges } from '../parts/call-badges';
import { describeReason } from '../parts/decision-words';
import { DecisionDetails } from '../parts/decision';
import { CallStory } from '../parts/story';
import { dayTime, dollars, duration, NOTHING, text, words } from '../format';
import { Ticking } from '../parts/ticking';
import { useAction } from '../loading';
import { linkTo } from '../route';
import { useSession } from '../session';
import { titleMoney } from '../visible-contract';
import { send, type Json } from '../transport';
import { WhatIf } from './what-if';

/** The history of a call, with its routing decisions. */
export function CallView({ id }: { id: string }) {
  const loaded = useCall(id);
  return (
    <>
      <p>
        <a href={linkTo('calls')}>All calls</a>
      </p>
      <Show of={loaded}>{(shown) => <CallPage {...shown} reload={loaded.reload} />}</Show>
    </>
  );
}

interface CallPageProps {
  call: Schemas['Call'];
  call_events: readonly Schemas['CallEvent'][];
  decisions: readonly Schemas['RoutingDecision'][];
  billing: Schemas['CallBilling'] | null;
  reload: () => Promise<void>;
}

function CallPage({ call, call_events, decisions, billing, reload }: CallPageProps) {
  const { caller_number: caller } = call;
  return (
    <>
      <div class="title">
        <h1>Call {call.id}</h1>
        <CallBadges call={call as unknown as Json} />
        <HangUp call={call} reload={reload} />
      </div>
      {call.sandbox && <p class="notice warn">A test call: no telephone rang.</p>}
      {caller && <CallerActions number={caller} offerId={call.offer_id} />}
      <div class="grid">
        <About call={call} />
        <Panel title="What happened">
          <CallStory events={call_events} />
        </Panel>
        <Money call={call} billing={billing} reload={reload} />
        <Recording id={call.id!} url={call.recording_url ?? null} />
        {decisions.map((decision) => (
          <Panel key={decision.round} title={buildTitle(decision, decisions.length)} wide>
            <DecisionDetails decision={decision} />
          </Panel>
        ))}
        {decisions.length === 0 && (
          <Panel title="Why it went there">
            <p>
              {call.category === 'outbound'
                ? 'This call was placed by the company: no buyer was chosen for it.'
                : 'No buyer was chosen for this call.'}
            </p>
          </Panel>
        )}
      </div>
      <UpdateForm
        layout={CALL_NOTES}
        record={call as unknown as Json}
        tag={String(call.updated_at)}
        reload={reload}
        method="POST"
      />
      {call.offer_id !== null && <OfferQuestions call={call} decision={decisions[0]} />}
    </>
  );
}

/** Only about an offer that the caller sees. */
function OfferQuestions(props: Parameters<typeof WhatIf>[0]) {
  const id = String(props.call.offer_id);
  if (!useTitles('offers', [id]).has(id)) return null;
  return (
    <div class="grid">
      <WhatIf {...props} />
    </div>
  );
}

const buildTitle = ({ round }: Schemas['RoutingDecision'], rounds: number): string =>
  rounds === 1 ? 'Why it went there' : `Why it went there, round ${round}`;

function About({ call }: { call: Schemas['Call'] }) {
  const { contract, may } = useSession();
  const { read } = findNoun(contract, 'calls');
  return (
    <Panel title="About">
      <Facts
        facts={[
          ['Caller', text(call.caller_number)],
          [
            'Called',
            <NounLink noun="phone_numbers" id={call.number_id} name={call.number_called} />,
          ],
          ['Came in', dayTime(call.created_at)],
          ['Offer', <NounLink noun="offers" id={call.offer_id} name={call.offer} />],
          ...facts('buyer' in read, [
            'Buyer',
            <NounLink noun="buyers" id={call.buyer_id} name={call.buyer} />,
          ]),
          ...facts('traffic_source' in read, [
            'Source',
            <NounLink
              noun="traffic_sources"
              id={call.traffic_source_id}
              name={call.traffic_source}
            />,
          ]),
          ['Duration', <Duration call={call} />],
          ['Talked', duration(call.answered_duration)],
          ['Ended by', call.hangup_cause ? describeReason(call.hangup_cause) : NOTHING],
          ...facts(may('leads:read'), [
            'Lead',
            call.lead_id ? <a href={linkTo('leads', call.lead_id)}>{call.lead_id}</a> : 'none',
          ]),
          ['Tokens', formatTokens(call.token_values)],
        ]}
      />
    </Panel>
  );
}

type Fact = Parameters<typeof Facts>[0]['facts'][number];

/** A fact that is left out where it is hidden from the caller. */
const facts = (isShown: boolean, fact: Fact): Fact[] => (isShown ? [fact] : []);

const IN_PROGRESS = ['queued', 'sending', 'ringing', 'in_progress'];
const isUnderWay = ({ status }: Schemas['Call']): boolean =>
  status !== null && IN_PROGRESS.includes(status ?? '');

const Duration = ({ call }: { call: Schemas['Call'] }) =>
  isUnderWay(call) ? <Ticking since={call.created_at!} /> : <>{duration(call.total_duration)}</>;

function HangUp({ call, reload }: { call: Schemas['Call']; reload: () => Promise<void> }) {
  const { may, transport } = useSession();
  const { run, is_busy, error } = useAction(async () => {
    if (!confirm('End this call now?')) return;
    await send(transport, 'POST', `/calls/${call.id}`, { body: { hang_up: true } });
    await reload();
  });
  if (!may('calls:update') || !isUnderWay(call)) return null;
  return (
    <>
      <button type="button" class="danger" disabled={is_busy} onClick={() => void run()}>
        Hang up
      </button>
      <Problem error={error} />
    </>
  );
}

interface MoneyProps {
  call: Schemas['Call'];
  billing: Schemas['CallBilling'] | null;
  reload: () => Promise<void>;
}

function Money({ call, billing, reload }: MoneyProps) {
  const { contract, me } = useSession();
  const { read } = findNoun(contract, 'calls');
  return (
    <Panel title={billing?.reason ? 'Why it was not paid' : 'Money'}>
      {billing?.reason && <Unbilled billing={billing} />}
      <Facts
        facts={[
          ...facts('revenue' in read, [
            titleMoney('revenue', me, 'Revenue'),
            dollars(call.revenue),
          ]),
          ...facts('payout' in read, [titleMoney('payout', me, 'Payout'), dollars(call.payout)]),
          ...facts('provider_cost' in read, ['Cost of the line', dollars(call.provider_cost)]),
        ]}
      />
      <MoneyActions call={call} reload={reload} />
    </Panel>
  );
}

const Unbilled = ({ billing }: { billing: Schemas['CallBilling'] }) =>
  billing.conversions.length > 1 ? (
    <Facts
      facts={billing.conversions.map(({ name, message }, index) => [
        name ?? `Conversion ${index + 1}`,
        message,
      ])}
    />
  ) : (
    <p>
      <b>{words(billing.reason)}</b>{' '}
      {billing.message && <span class="quiet">{billing.message}</span>}
    </p>
  );

interface NounLinkProps {
  noun: string;
  id: number | null | undefined;
  name: string | null | undefined;
}

/** A name that leads to its page, if the caller may open that. */
function NounLink({ noun, id, name }: NounLinkProps) {
  const ids = id ? [String(id)] : [];
  const isVisible = useTitles(noun, ids).has(String(id));
  if (!id || !isVisible) return <>{text(name)}</>;
  return <a href={linkTo(noun, id)}>{name ?? `No. ${id}`}</a>;
}

const formatTokens = (tokens: Record<string, unknown> | undefined): string =>
  Object.entries(tokens ?? {})
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(', ') || 'none';
