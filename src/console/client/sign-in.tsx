import { useState } from 'preact/hooks';
import { ApiError } from './api';
import { Field, Problem } from './parts/basics';
import { buildAuthorization, type Credentials } from './session';

interface SignInProps {
  onSignIn: (credentials: Credentials) => void;
  error: unknown;
  is_busy: boolean;
}

type CredentialKind = 'key_pair' | 'user_token';

/** Credentials go into memory, and into the storage of this tab only if the user asks for that. */
export function SignIn({ onSignIn, error, is_busy }: SignInProps) {
  const [kind, setKind] = useState<CredentialKind>('key_pair');
  const [name, setName] = useState('');
  const [secret, setSecret] = useState('');
  const [isKept, setKept] = useState(false);
  const isPair = kind === 'key_pair';
  const submit = (event: Event) => {
    event.preventDefault();
    onSignIn({ authorization: buildAuthorization(name, isPair ? secret : ''), is_kept: isKept });
  };
  return (
    <main class="sign-in">
      <h1>Trunkline</h1>
      <form onSubmit={submit}>
        <Kind is_pair={isPair} onChange={setKind} />
        <Field
          label={isPair ? 'Public key' : 'User token'}
          type={isPair ? 'text' : 'password'}
          autocomplete="off"
          spellcheck={false}
          required
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
        {isPair && (
          <Field
            label="Private key"
            type="password"
            autocomplete="off"
            required
            value={secret}
            onInput={(event) => setSecret(event.currentTarget.value)}
          />
        )}
        <Keep is_kept={isKept} onChange={setKept} />
        <Refused error={error} />
        <button class="primary" disabled={is_busy}>
          {is_busy ? 'Signing in…' : 'Sign in'}
        </button>
      </form>
      <p class="quiet">The console shows what the API gives to these credentials, and no more.</p>
    </main>
  );
}

const Refused = ({ error }: { error: unknown }) =>
  error instanceof ApiError && error.status === 401 ? (
    <p class="notice bad" role="alert">
      These credentials are not accepted.
    </p>
  ) : (
    <Problem error={error} />
  );

interface KindProps {
  is_pair: boolean;
  onChange: (kind: CredentialKind) => void;
}

const Kind = ({ is_pair, onChange }: KindProps) => (
  <fieldset class="choice">
    <legend>Sign in with</legend>
    <label>
      <input type="radio" name="kind" checked={is_pair} onChange={() => onChange('key_pair')} />
      <span>A key pair</span>
    </label>
    <label>
      <input type="radio" name="kind" checked={!is_pair} onChange={() => onChange('user_token')} />
      <span>A user token</span>
    </label>
  </fieldset>
);

interface KeepProps {
  is_kept: boolean;
  onChange: (isKept: boolean) => void;
}

const Keep = ({ is_kept, onChange }: KeepProps) => (
  <label class="check">
    <input
      type="checkbox"
      checked={is_kept}
      onChange={(event) => onChange(event.currentTarget.checked)}
    />
    Keep me signed in while this tab is open
  </label>
);
