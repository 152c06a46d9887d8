import { useState } from 'preact/hooks';
import { useLead } from '../calls/load-lead';
import { useLine } from '../calls/load-line';
import { useAction } from '../loading';
import { Badge, Field, Panel, Problem, Show } from '../parts/basics';
import { LabeledReference } from '../parts/labeled-reference';
import { Select } from '../parts/select';
import { LeadFuture, LeadPast } from '../parts/story';
import { readTokens, Tokens } from '../parts/tokens';
import { linkTo, useRoute } from '../route';
import { useSession } from '../session';
import { send, type Json } from '../transport';

const TARGETS = { schedule_id: 'A schedule', offer_id: 'An offer' } as const;

interface Inputs {
  target: keyof typeof TARGETS;
  id: string;
  caller_id: string;
  full_name: string;
  email: string;
  tokens: string;
}

const FIELDS = [
  ['caller_id', 'Telephone number', 'tel'],
  ['full_name', 'Name', 'text'],
  ['email', 'E-mail', 'email'],
] as const;

/** A lead as a landing page sends it, and its timeline. */
export function TestLeadView() {
  const { transport } = useSession();
  const { query } = useRoute();
  const [inputs, setInputs] = useState<Inputs>({
    target: query.has('offer_id') ? 'offer_id' : 'schedule_id',
    id: query.get('schedule_id') ?? query.get('offer_id') ?? '',
    caller_id: '',
    full_name: '',
    email: '',
    tokens: '',
  });
  const [answer, setAnswer] = useState<Json>();
  const change = (part: Partial<Inputs>) => setInputs((before) => ({ ...before, ...part }));
  const { run, is_busy, error } = useAction(async () => {
    setAnswer(undefined);
    if (inputs.id === '')
      throw new Error(inputs.target === 'offer_id' ? 'Choose an offer.' : 'Choose a schedule.');
    setAnswer((await send(transport, 'POST', '/leads/capture', { body: buildLead(inputs) })).data);
  });
  return (
    <>
      <h1>Test lead</h1>
      <div class="grid">
        <Panel title="The lead" wide>
          <form
            onSubmit={(event) => {
              event.preventDefault();
              void run();
            }}
          >
            <LeadFields inputs={inputs} change={change} />
            <Warning />
            <div class="actions">
              <button class="primary" disabled={is_busy}>
                Send the lead
              </button>
            </div>
          </form>
          <Problem error={error} />
        </Panel>
      </div>
      {answer && <Unfolding key={String(answer.id)} answer={answer} />}
    </>
  );
}

/** Says whom the lead reaches: that depends on what is connected. */
function Warning() {
  const { person } = useSession();
  const hasLine = useLine();
  if (hasLine === false)
    return (
      <p class="notice warn">
        No telephone rings, and no text arrives: there is no switch and no number of a carrier here,
        so that the schedule is played in the sandbox.
        {person?.sends_mail !== false && ' Mails are sent: use an address of your own.'} A number
        that ends in 555-0105 is busy, 555-0106 does not answer, and 555-0109 is an answering
        machine; all others answer. A call of it counts in caps and money, as any call does.
      </p>
    );
  return (
    <p class="notice warn">
      The lead is a real one: this person is called, texted and mailed as the schedule says
      {hasLine === undefined && ', unless no switch and no carrier is connected'}. Use a number and
      an address of your own.
    </p>
  );
}

const buildLead = ({ target, id, tokens, ...fields }: Inputs): Json => ({
  data: readTokens(tokens),
  ...(id !== '' && { [target]: id }),
  ...Object.fromEntries(
    FIELDS.flatMap(([name]) => (fields[name].trim() === '' ? [] : [[name, fields[name].trim()]])),
  ),
});

interface LeadFieldsProps {
  inputs: Inputs;
  change: (part: Partial<Inputs>) => void;
}

const LeadFields = ({ inputs, change }: LeadFieldsProps) => (
  <div class="group-fields">
    <Select
      label="To"
      choices={TARGETS}
      value={inputs.target}
      onChange={(target) => change({ target: target as Inputs['target'], id: '' })}
    />
    <LabeledReference
      key={inputs.target}
      label={inputs.target === 'offer_id' ? 'Offer' : 'Schedule'}
      noun={inputs.target === 'offer_id' ? 'offers' : 'schedules'}
      value={inputs.id}
      onChange={(id) => change({ id })}
    />
    {FIELDS.map(([name, label, type]) => (
      <Field
        key={name}
        label={label}
        type={type}
        value={inputs[name]}
        onInput={(event) => change({ [name]: event.currentTarget.value })}
      />
    ))}
    <Tokens value={inputs.tokens} onInput={(tokens) => change({ tokens })} />
  </div>
);

/** The history of the lead, as it happens. */
function Unfolding({ answer: { id, warnings } }: { answer: Json }) {
  const texts = Object.values(warnings as Record<string, string[]>).flat();
  return (
    <Show of={useLead(String(id))}>
      {({ lead, timeline }) => (
        <>
          {texts.length > 0 && (
            <ul class="notice warn">
              {texts.map((text) => (
                <li key={text}>{text}</li>
              ))}
            </ul>
          )}
          <div class="grid">
            <Panel title="What happened" headerContent={<Badge>{lead.human_status}</Badge>}>
              <LeadPast events={timeline.past} />
              <p>
                <a href={linkTo('leads', lead.id)}>The page of the lead</a>, where it can be
                stopped.
              </p>
            </Panel>
            <Panel title="What will happen">
              <LeadFuture steps={timeline.future} status={lead.status} />
            </Panel>
          </div>
        </>
      )}
    </Show>
  );
}
