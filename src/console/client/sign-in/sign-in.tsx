import { useState } from 'preact/hooks';
import { hasDrafts } from '../form/drafts';
import { Loading, Problem } from '../parts/basics';
import { openIdLink, useRoute } from '../route';
import type { Credentials } from '../session';
import { AskForm, EMAIL, type AskedField } from './ask-form';
import { sendToGate, type SignInState } from './gate';
import { KeyForm } from './key-form';
import { LinkLanding } from './link-landing';
import { dropLinkToken, type LinkToken } from './link-token';
import { PendingStep } from './pending-step';

export interface SignInProps {
  /** Undefined until it is loaded. */
  state: SignInState | undefined;
  link: LinkToken | undefined;
  has_ended: boolean;
  error: unknown;
  onKey: (credentials: Credentials) => Promise<void>;
  /** Goes on with the answer of a sign-in. */
  onState: (state: SignInState) => Promise<void>;
  onRetry: () => void;
}

/** The page of those who are not signed in, or who come by a link. */
export const SignIn = (props: SignInProps) => (
  <main class="sign-in">
    <h1>Trunkline</h1>
    <Problem error={props.error} />
    <Step {...props} />
  </main>
);

function Step({ state, link, onState, onRetry, error, ...props }: SignInProps) {
  if (link)
    return (
      <LinkLanding
        key={link.token}
        link={link}
        onState={async (next) => {
          dropLinkToken();
          await onState(next);
        }}
      />
    );
  if (state?.pending) return <PendingStep pending={state.pending} onState={onState} />;
  if (state && !state.session) return <Ways methods={state.methods} onState={onState} {...props} />;
  return error === undefined ? (
    <Loading />
  ) : (
    <button type="button" onClick={onRetry}>
      Try again
    </button>
  );
}

type Form = 'password' | 'link' | 'key';

const FORMS: readonly (readonly [Form, string])[] = [
  ['password', 'Use e-mail and password'],
  ['link', 'Forgot your password? Get a link by mail'],
  ['key', 'Use a key or token'],
];

const PASSWORD: AskedField = {
  name: 'password',
  label: 'Password',
  type: 'password',
  autocomplete: 'current-password',
};

type WaysProps = Pick<SignInProps, 'onState' | 'onKey' | 'has_ended'> & {
  methods: SignInState['methods'];
};

function Ways({ methods, has_ended: hasEnded, onState, onKey }: WaysProps) {
  const [form, setForm] = useState<Form>('password');
  const others = FORMS.filter(([name]) => name !== form && (name !== 'link' || methods.link));
  return (
    <>
      <Notice has_ended={hasEnded} />
      {form === 'password' && (
        <AskForm
          fields={[EMAIL, PASSWORD]}
          submit="Sign in"
          send={async (body) => onState(await sendToGate('POST', '/session', { body }))}
        />
      )}
      {form === 'password' && !methods.link && <WithoutMail />}
      {form === 'link' && <LinkRequest />}
      {form === 'key' && <KeyForm onKey={onKey} />}
      <div class="actions">
        {methods.oidc && (
          <a class="button" href={openIdLink()}>
            Sign in with {methods.oidc.name}
          </a>
        )}
        {others.map(([name, title]) => (
          <button key={name} type="button" onClick={() => setForm(name)}>
            {title}
          </button>
        ))}
      </div>
    </>
  );
}

const OWNER_COMMAND = 'npx trunkline owner link';

/** Without mail no link can come: other people help. */
const WithoutMail = () => (
  <details>
    <summary>Forgot your password?</summary>
    <p>
      This service sends no mail, so that it cannot send you a link. Ask the owner of your company:
      they delete your user and invite you again. An owner asks whoever runs this server for a new
      owner link (<code>{OWNER_COMMAND}</code>).
    </p>
  </details>
);

const REFUSALS: Readonly<Record<string, string>> = {
  oidc_unknown_user:
    'There is no user here with your confirmed address. Ask for an invitation first.',
  oidc_expired: 'That took too long. Sign in again.',
};

/** Explains why a person is here. */
function Notice({ has_ended: hasEnded }: { has_ended: boolean }) {
  const { view, query } = useRoute();
  const code = view === 'sign-in' ? query.get('error') : null;
  if (code !== null)
    return (
      <p class="notice bad" role="alert">
        {REFUSALS[code] ?? 'Signing in there did not work. Try it again, or use another way.'}
      </p>
    );
  if (!hasEnded) return null;
  return (
    <p class="notice warn" role="alert">
      Your session has ended. Sign in to go on where you were.
      {hasDrafts() && ' Your changes are kept until then.'}
    </p>
  );
}

function LinkRequest() {
  const [address, setAddress] = useState<string>();
  if (address !== undefined)
    return (
      <p class="notice good" role="status">
        If {address} is a user here, a mail with a link is on its way. It is valid for 15 minutes.
      </p>
    );
  return (
    <AskForm
      fields={[EMAIL]}
      submit="Send me a link"
      send={async (body) => {
        await sendToGate('POST', '/sign-in/link', { body });
        setAddress(body.email);
      }}
    />
  );
}
