import { useState } from 'preact/hooks';
import { ok, type Schemas } from '../api';
import { dayTime } from '../format';
import { useAction, useLoaded } from '../loading';
import { RecordName } from '../noun/record-name';
import type { PanelProps } from '../nouns/layout';
import { Field, Panel, Problem, Show, Table, type Column } from '../parts/basics';
import { LabeledReference } from '../parts/labeled-reference';
import { Select } from '../parts/select';
import { revealSecrets } from '../secrets';
import { useSession } from '../session';
import { showToast } from '../toast';
import { CopyText, Instructions } from './posting';

type Token = Schemas['TrafficSourceToken'];

const MAX_TOKENS = 100;

/** The tokens with which a publisher sends leads, or pings and posts calls. */
export function SourceTokens({ record }: PanelProps) {
  const { api, may } = useSession();
  const id = String(record.id);
  const loaded = useLoaded(
    () =>
      ok(
        api.GET('/traffic_source_tokens', {
          params: { query: { traffic_source_id: id, per_page: MAX_TOKENS } },
        }),
      ),
    [api, id],
  );
  const revoke = useAction(async (token: Token) => {
    const question = `Revoke ${token.name ?? 'this token'}? Whatever is sent with it is refused from now on.`;
    if (!confirm(question)) return;
    const params = { path: { id: String(token.id) } };
    await ok(api.DELETE('/traffic_source_tokens/{id}', { params }));
    await loaded.reload();
    showToast('The token was revoked.');
  });
  if (!may('traffic_source_tokens:read')) return null;
  const columns = may('traffic_source_tokens:delete')
    ? [...COLUMNS, buildRevokeColumn((token) => void revoke.run(token))]
    : COLUMNS;
  return (
    <Panel title="Tokens" wide>
      <p class="quiet">
        What comes with a token of this source is counted for it, whatever else the sender says.
      </p>
      <Problem error={revoke.error} />
      <Show of={loaded}>
        {({ traffic_source_tokens: tokens }) => (
          <Table
            caption="Tokens"
            columns={columns}
            rows={tokens}
            getKey={({ id: tokenId }) => tokenId!}
            empty="It has no token yet."
          />
        )}
      </Show>
      {may('traffic_source_tokens:create') && <NewToken source={id} created={loaded.reload} />}
    </Panel>
  );
}

const COLUMNS: readonly Column<Token>[] = [
  { name: 'Token', of: ({ name, id }) => name ?? `Token ${id}` },
  { name: 'Sends to', of: (token) => <Target {...token} /> },
  {
    name: 'Lead token',
    of: ({ lead_token: token }) =>
      typeof token !== 'string' ? (
        'secret, shown once'
      ) : (
        <details>
          <summary>Show</summary>
          <CopyText label="lead token" text={token} />
          <Instructions token={token} />
        </details>
      ),
  },
  { name: 'Made', of: ({ created_at: at }) => dayTime(at) },
];

function Target(token: Token) {
  const [field, { noun }] = Object.entries(TARGETS).find(([name]) => token[name as Kind] !== null)!;
  return <RecordName noun={noun} id={token[field as Kind]} />;
}

const buildRevokeColumn = (revoke: (token: Token) => void): Column<Token> => ({
  name: 'Revoke',
  of: (token) => (
    <button
      type="button"
      class="danger"
      aria-label={`Revoke ${token.name ?? `token ${token.id}`}`}
      onClick={() => revoke(token)}
    >
      Revoke
    </button>
  ),
});

const TARGETS = {
  offer_id: { title: 'Leads of an offer', noun: 'offers' },
  schedule_id: { title: 'Leads of a schedule', noun: 'schedules' },
  inbound_webhook_id: { title: 'Calls by ping and post', noun: 'inbound_webhooks' },
} as const;
type Kind = keyof typeof TARGETS;

const KINDS = Object.fromEntries(Object.entries(TARGETS).map(([name, { title }]) => [name, title]));

function NewToken({ source, created }: { source: string; created: () => Promise<void> }) {
  const { api } = useSession();
  const [name, setName] = useState('');
  const [kind, setKind] = useState<Kind>('offer_id');
  const [target, setTarget] = useState('');
  const create = useAction(async () => {
    const answer = await ok(
      api.POST('/traffic_source_tokens', {
        body: { traffic_source_id: source, name: name.trim() || null, [kind]: target },
      }),
    );
    revealSecrets(({ auth_token: secret }) => [['Token for ping and post', secret]], answer);
    setName('');
    setTarget('');
    await created();
    showToast('The token was created.');
  });
  const submit = (event: Event) => {
    event.preventDefault();
    void create.run();
  };
  return (
    <form onSubmit={submit}>
      <h3>New token</h3>
      <div class="group-fields">
        <Field
          label="What it is for"
          maxLength={255}
          placeholder="Landing page of spring"
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
        <Select
          label="It sends"
          choices={KINDS}
          value={kind}
          onChange={(value) => {
            setKind(value as Kind);
            setTarget('');
          }}
        />
        <LabeledReference
          label="To"
          key={kind}
          noun={TARGETS[kind].noun}
          value={target}
          onChange={setTarget}
        />
      </div>
      <Problem error={create.error} />
      <button disabled={create.is_busy || target === ''}>Create the token</button>
    </form>
  );
}
