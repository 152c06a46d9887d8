import { useState } from 'preact/hooks';
import { ApiError } from '../api-error';
import { buildAuthorization, type Credentials } from '../session';
import { AskForm, type AskedField } from './ask-form';

type Kind = 'key_pair' | 'user_token';

const FIELDS: Readonly<Record<Kind, readonly AskedField[]>> = {
  key_pair: [
    { name: 'name', label: 'Public key', autocomplete: 'off' },
    { name: 'secret', label: 'Private key', type: 'password', autocomplete: 'off' },
  ],
  user_token: [{ name: 'name', label: 'User token', type: 'password', autocomplete: 'off' }],
};

const KINDS: readonly (readonly [Kind, string])[] = [
  ['key_pair', 'A key pair'],
  ['user_token', 'A user token'],
];

/** Credentials go into memory, and into the storage of this tab only if the user asks for that. */
export function KeyForm({ onKey }: { onKey: (credentials: Credentials) => Promise<void> }) {
  const [kind, setKind] = useState<Kind>('key_pair');
  return (
    <>
      <AskForm
        fields={FIELDS[kind]}
        submit="Sign in"
        send={({ name = '', secret = '', is_kept: isKept }) =>
          onKey({
            authorization: buildAuthorization(name, secret),
            is_kept: isKept !== undefined,
          }).catch(explainRefusal)
        }
      >
        <fieldset class="choice">
          <legend>Sign in with</legend>
          {KINDS.map(([value, title]) => (
            <label key={value}>
              <input type="radio" checked={kind === value} onChange={() => setKind(value)} />
              <span>{title}</span>
            </label>
          ))}
        </fieldset>
        <label class="check">
          <input type="checkbox" name="is_kept" />
          Keep me signed in while this tab is open
        </label>
      </AskForm>
      <p class="quiet">The console shows what the API gives to these credentials, and no more.</p>
    </>
  );
}

function explainRefusal(error: unknown): never {
  throw error instanceof ApiError && error.status === 401
    ? new Error('These credentials are not accepted.')
    : error;
}
