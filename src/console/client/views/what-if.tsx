import { useState } from 'preact/hooks';
import { ok, type Schemas } from '../api';
import { Field, Panel, Problem } from '../parts/basics';
import { DecisionDetails } from '../parts/decision';
import { formatTokens, readTokens, Tokens } from '../parts/tokens';
import { useAction } from '../loading';
import { useSession } from '../session';
import { fromLocalInput, toLocalInput } from '../zone';
import { Weights } from './weights';

type Call = Schemas['Call'];
type Decision = Schemas['RoutingDecision'];

/** Replays a call at another hour, with other tokens, or with other weights. Changes nothing. */
export function WhatIf({ call, decision }: { call: Call; decision: Decision | undefined }) {
  const { me } = useSession();
  const candidates = decision?.candidates ?? [];
  // The API replays calls of a whole offer, for the company alone.
  const maySimulate = me.team_ids === null && candidates.length > 0;
  return (
    <>
      <Question call={call} />
      {maySimulate && <Weights call={call} candidates={candidates} />}
    </>
  );
}

function Question({ call }: { call: Call }) {
  const { api } = useSession();
  const [at, setAt] = useState(toLocalInput(new Date(call.created_at!)));
  const [tokens, setTokens] = useState(formatTokens(call.token_values));
  const [caller, setCaller] = useState(call.caller_number ?? '');
  const [decision, setDecision] = useState<Decision>();
  const { run, is_busy, error } = useAction(async () => {
    const body = {
      offer_id: String(call.offer_id),
      caller_number: caller.trim() === '' ? null : caller,
      tokens: readTokens(tokens),
      at: fromLocalInput(at).toISOString(),
    };
    setDecision((await ok(api.POST('/routing/explain', { body }))).decision);
  });
  const submit = (event: Event) => {
    event.preventDefault();
    void run();
  };
  return (
    <Panel title="What if" wide>
      <form onSubmit={submit} class="what-if">
        <Field
          label="The call came at"
          type="datetime-local"
          required
          value={at}
          onInput={(event) => setAt(event.currentTarget.value)}
        />
        <Field
          label="From"
          type="tel"
          hint="Empty: withheld"
          value={caller}
          onInput={(event) => setCaller(event.currentTarget.value)}
        />
        <Tokens value={tokens} onInput={setTokens} />
        <button class="primary" disabled={is_busy}>
          Explain
        </button>
      </form>
      <Problem error={error} />
      <div aria-live="polite">{decision && <DecisionDetails decision={decision} />}</div>
    </Panel>
  );
}
