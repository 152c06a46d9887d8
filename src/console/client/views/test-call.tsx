import { useState } from 'preact/hooks';
import { ok, type Schemas } from '../api';
import { describeStatus } from '../calls/call-status';
import { useCall } from '../calls/load-call';
import { useLine } from '../calls/load-line';
import { dollars, words } from '../format';
import { useAction } from '../loading';
import { Badge, Facts, Field, Panel, Problem, Show } from '../parts/basics';
import { DecisionDetails } from '../parts/decision';
import { LabeledReference } from '../parts/labeled-reference';
import { Select } from '../parts/select';
import { CallStory } from '../parts/story';
import { readTokens, Tokens } from '../parts/tokens';
import { linkTo, useRoute } from '../route';
import { useSession, type Session } from '../session';
import { send } from '../transport';
import { fromLocalInput } from '../zone';

const TARGETS = { offer: 'An offer', number: 'A number of yours' } as const;

/** Long enough for most prices. */
const TALK_SECONDS = '120';

const START = {
  target: 'offer' as keyof typeof TARGETS,
  offer: '',
  /** Id of the number that was called. */
  number: '',
  caller: '',
  tokens: '',
  source: '',
  sub_id: '',
  talk: TALK_SECONDS,
  at: '',
};
type Inputs = typeof START;

/** Where a call would go, and a call that is played through without a telephone. */
export function TestCallView() {
  const session = useSession();
  const { query } = useRoute();
  const number = query.get('number_id') ?? '';
  const [inputs, setInputs] = useState<Inputs>({
    ...START,
    target: number === '' ? 'offer' : 'number',
    offer: query.get('offer_id') ?? '',
    number,
  });
  const [decision, setDecision] = useState<Schemas['RoutingDecision']>();
  const [call, setCall] = useState('');
  const change = (part: Partial<Inputs>) => setInputs((before) => ({ ...before, ...part }));
  const { run, is_busy, error } = useAction(async (begin?: CallMaker) => {
    setDecision(undefined);
    setCall('');
    if (begin) setCall(await begin(session, inputs));
    else setDecision(await explain(session, inputs));
  });
  return (
    <>
      <h1>Test call</h1>
      <div class="grid">
        <Panel title="The call" wide>
          <form
            onSubmit={(event) => {
              event.preventDefault();
              void run();
            }}
          >
            <Target inputs={inputs} change={change} />
            <Details inputs={inputs} change={change} />
            <Buttons
              inputs={inputs}
              is_busy={is_busy}
              onTest={() => void run(makeTestCall)}
              onCall={() => void run(callPhone)}
            />
          </form>
          <Problem error={error} />
        </Panel>
      </div>
      <div aria-live="polite">
        {decision && (
          <Panel title="Where it would go" wide>
            <DecisionDetails decision={decision} />
          </Panel>
        )}
      </div>
      {call !== '' && <Unfolding key={call} id={call} />}
    </>
  );
}

/** Begins a call and gives its id; an empty one where none was begun. */
type CallMaker = (session: Session, inputs: Inputs) => Promise<string>;

const orNothing = (text: string): string | undefined => text.trim() || undefined;

/** The number that was called; undefined for a call to an offer. */
async function loadNumber({ api }: Session, { target, number: id }: Inputs) {
  if (target === 'offer') return undefined;
  if (id === '') throw new Error('Choose a number.');
  return (await ok(api.GET('/phone_numbers/{id}', { params: { path: { id } } }))).number;
}

type OwnNumber = Awaited<ReturnType<typeof loadNumber>>;

const buildCall = (inputs: Inputs, number: OwnNumber) => ({
  ...(number ? { number_called: number.phone_number! } : { offer_id: inputs.offer }),
  ...(inputs.caller.trim() !== '' && { caller_number: inputs.caller }),
  ...(inputs.source !== '' && { traffic_source_id: inputs.source }),
  ...(inputs.sub_id.trim() !== '' && { sub_id: inputs.sub_id.trim() }),
  tokens: readTokens(inputs.tokens),
});

/** The question names an offer: that of the number, where a number was called. */
async function explain(session: Session, inputs: Inputs): Promise<Schemas['RoutingDecision']> {
  const number = await loadNumber(session, inputs);
  const call = buildCall(inputs, number);
  const offer = number ? number.offer_id : orNothing(inputs.offer);
  if (offer === undefined || offer === null)
    throw new Error(
      inputs.target === 'offer'
        ? 'Choose an offer.'
        : 'This number leads to no offer: it leads nowhere, or straight to a buyer.',
    );
  const body = {
    ...(number?.traffic_source_id && { traffic_source_id: String(number.traffic_source_id) }),
    ...call,
    offer_id: String(offer),
    ...(inputs.at !== '' && { at: fromLocalInput(inputs.at).toISOString() }),
  };
  return (await ok(session.api.POST('/routing/explain', { body }))).decision;
}

async function makeTestCall(session: Session, inputs: Inputs): Promise<string> {
  const talk = inputs.talk === '' ? {} : { talk_seconds: Number(inputs.talk) };
  const body = { ...buildCall(inputs, await loadNumber(session, inputs)), ...talk };
  const { data } = await send(session.transport, 'POST', '/call_sessions/test', { body });
  return String((data.call_session as { id: number }).id);
}

/** A call that the carrier places, to a telephone that rings. */
async function callPhone({ transport }: Session, inputs: Inputs): Promise<string> {
  const { caller, offer } = inputs;
  if (!confirm(`Ring ${caller} now, and connect it to a buyer of the offer?`)) return '';
  const body = { to: caller, ...(offer !== '' && { offer_id: offer }) };
  const { data } = await send(transport, 'POST', '/calls', { body });
  return String((data.call as { id: number }).id);
}

interface PartProps {
  inputs: Inputs;
  change: (part: Partial<Inputs>) => void;
}

const Target = ({ inputs, change }: PartProps) => (
  <div class="group-fields">
    <TargetChoice inputs={inputs} change={change} />
    {inputs.target === 'offer' ? (
      <LabeledReference
        key={inputs.target}
        label="Offer"
        noun="offers"
        value={inputs.offer}
        onChange={(offer) => change({ offer })}
      />
    ) : (
      <LabeledReference
        key={inputs.target}
        label="Number called"
        noun="phone_numbers"
        value={inputs.number}
        onChange={(number) => change({ number })}
      />
    )}
    <Field
      label="From"
      type="tel"
      placeholder="(310) 555-0188"
      hint="Empty: withheld"
      value={inputs.caller}
      onInput={(event) => change({ caller: event.currentTarget.value })}
    />
    <Field
      label="Seconds of talk"
      type="number"
      min={0}
      max={3_600}
      hint="For a test call: it does not take that long."
      value={inputs.talk}
      onInput={(event) => change({ talk: event.currentTarget.value })}
    />
  </div>
);

function TargetChoice({ inputs, change }: PartProps) {
  const { may } = useSession();
  if (!may('phone_numbers:read')) return null;
  return (
    <Select
      label="To"
      choices={TARGETS}
      value={inputs.target}
      onChange={(target) => change({ target: target as Inputs['target'] })}
    />
  );
}

const Details = ({ inputs, change }: PartProps) => (
  <details>
    <summary>Tokens, source, and another time</summary>
    <div class="group-fields">
      <Tokens value={inputs.tokens} onInput={(tokens) => change({ tokens })} />
      <LabeledReference
        label="Traffic source"
        noun="traffic_sources"
        value={inputs.source}
        onChange={(source) => change({ source })}
      />
      <Field
        label="Sub-ID"
        value={inputs.sub_id}
        onInput={(event) => change({ sub_id: event.currentTarget.value })}
      />
      <Field
        label="At another time"
        type="datetime-local"
        hint="Only for asking. Empty: now"
        value={inputs.at}
        onInput={(event) => change({ at: event.currentTarget.value })}
      />
    </div>
  </details>
);

interface ButtonsProps {
  inputs: Inputs;
  is_busy: boolean;
  onTest: () => void;
  onCall: () => void;
}

function Buttons({ inputs, is_busy, onTest, onCall }: ButtonsProps) {
  const { may, me } = useSession();
  const hasLine = useLine();
  const mayCall = may('calls:create') && me.team_ids === null;
  return (
    <>
      {mayCall && (
        <p class="notice warn">
          “Ask only” changes nothing. A test call rings no telephone, but it counts in caps and
          money as any call does, and webhooks and bidders are asked. It can be returned on its
          page.
        </p>
      )}
      <div class="actions">
        <button class="primary" disabled={is_busy}>
          Ask only
        </button>
        {mayCall && (
          <button type="button" disabled={is_busy} onClick={onTest}>
            Make the test call
          </button>
        )}
        {mayCall && hasLine && inputs.target === 'offer' && (
          <button type="button" disabled={is_busy || inputs.caller === ''} onClick={onCall}>
            Call my phone
          </button>
        )}
      </div>
    </>
  );
}

/** A call as it happens, its decision, and what was paid for it. */
function Unfolding({ id }: { id: string }) {
  return (
    <Show of={useCall(id)}>
      {({ call, call_events, decisions, billing }) => (
        <div class="grid">
          <Panel title="As it happens" headerContent={<Badge>{describeStatus(call)}</Badge>}>
            <CallStory events={call_events} />
          </Panel>
          <Panel title="Paid">
            <Facts
              facts={[
                ['Buyer', call.buyer ?? 'none'],
                ['Revenue', dollars(call.revenue)],
                ['Payout', dollars(call.payout)],
                ['Why it was not paid', billing?.message ?? words(billing?.reason)],
              ]}
            />
            <p>
              <a href={linkTo('calls', id)}>The page of the call</a>, where its money can be taken
              back.
            </p>
          </Panel>
          {decisions.map((decision) => (
            <Panel key={decision.round} title="Why it went there" wide>
              <DecisionDetails decision={decision} />
            </Panel>
          ))}
        </div>
      )}
    </Show>
  );
}
