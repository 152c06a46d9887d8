import { useState } from 'preact/hooks';
import { ok, type Schemas } from '../api';
import { Panel, Problem, Table, type Column } from '../parts/basics';
import { count, dollars } from '../format';
import { useAction } from '../loading';
import { useSession } from '../session';

type Considered = Schemas['ConsideredBuyer'];
type Simulated = Schemas['SimulatedBuyer'];

const DAYS = 7;
const DAY_MS = 86_400_000;

interface WeightsProps {
  call: Schemas['Call'];
  candidates: readonly Considered[];
}

/** The effect of other weights on the calls of the last days. Changes nothing. */
export function Weights({ call, candidates }: WeightsProps) {
  const { api } = useSession();
  const [weights, setWeights] = useState<Record<number, string>>({});
  const [result, setResult] = useState<Schemas['RoutingSimulation']>();
  const { run, is_busy, error } = useAction(async () => {
    const changes = Object.entries(weights)
      .filter(([, weight]) => weight !== '')
      .map(([buyerId, weight]) => ({ buyer_id: buyerId, weight: Number(weight) }));
    const from = new Date(Date.now() - DAYS * DAY_MS).toISOString();
    const body = { offer_id: String(call.offer_id), from, changes };
    setResult((await ok(api.POST('/routing/simulate', { body }))).simulation);
  });
  const submit = (event: Event) => {
    event.preventDefault();
    void run();
  };
  return (
    <Panel title="What if weights were different" wide>
      <p class="quiet">
        Replays the calls of this offer of the last {DAYS} days as configured, and with these
        weights.
      </p>
      <form onSubmit={submit}>
        <div class="fields">
          {candidates.map(({ buyer_id, name, weight }) => (
            <WeightField
              key={buyer_id}
              label={name ?? `Buyer ${buyer_id}`}
              value={weights[buyer_id] ?? String(weight)}
              onInput={(value) => setWeights((before) => ({ ...before, [buyer_id]: value }))}
            />
          ))}
        </div>
        <button class="primary" disabled={is_busy}>
          {is_busy ? 'Replaying…' : 'Simulate'}
        </button>
      </form>
      <Problem error={error} />
      <div aria-live="polite">{result && <Result result={result} />}</div>
    </Panel>
  );
}

interface WeightFieldProps {
  label: string;
  value: string;
  onInput: (value: string) => void;
}

const WeightField = ({ label, value, onInput }: WeightFieldProps) => (
  <label class="field">
    <span>{label}</span>
    <input
      type="number"
      min={0}
      step="any"
      required
      value={value}
      onInput={(event) => onInput(event.currentTarget.value)}
    />
  </label>
);

const Result = ({ result }: { result: Schemas['RoutingSimulation'] }) => (
  <>
    <p>{count(result.calls)} calls were replayed.</p>
    <Table
      caption="What other weights would have done"
      columns={COLUMNS}
      rows={result.buyers}
      getKey={({ buyer_id }) => buyer_id}
      empty="The offer has no buyers."
    />
    <details>
      <summary>What this rests on</summary>
      <ul>
        {result.assumptions.map((assumption) => (
          <li key={assumption}>{assumption}</li>
        ))}
      </ul>
    </details>
  </>
);

const formatSigned = (format: (n: number) => string, n: number): string =>
  n > 0 ? `+${format(n)}` : format(n);

const COLUMNS: readonly Column<Simulated>[] = [
  { name: 'Buyer', of: ({ name, buyer_id }) => name ?? `Buyer ${buyer_id}` },
  { name: 'Calls now', of: ({ as_configured }) => count(as_configured.calls), number: true },
  { name: 'Calls then', of: ({ as_changed }) => count(as_changed.calls), number: true },
  { name: 'Revenue now', of: ({ as_configured }) => dollars(as_configured.revenue), number: true },
  { name: 'Revenue then', of: ({ as_changed }) => dollars(as_changed.revenue), number: true },
  {
    name: 'Difference',
    of: ({ difference }) => formatSigned(dollars, difference.revenue),
    number: true,
  },
];
