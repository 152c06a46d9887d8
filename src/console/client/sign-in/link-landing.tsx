import { useLoaded } from '../loading';
import { Problem } from '../parts/basics';
import { AskForm, EMAIL, explainLink, NEW_PASSWORD, type AskedField } from './ask-form';
import { sendToGate, type SignInState } from './gate';
import { dropLinkToken, type LinkToken } from './link-token';

interface Invitation {
  email: string;
  name: string | null;
  company: { name: string };
}

interface Landing {
  title: string;
  fields: readonly AskedField[];
}

const buildNameField = (value: string | null): AskedField => ({
  name: 'name',
  label: 'Your name',
  autocomplete: 'name',
  is_optional: true,
  ...(value !== null && { value }),
});

const PATHS = { invitation: '/invitation', owner: '/owner', link: '/sign-in/link/open' };

/** Looks a link up, which does not use it. */
async function loadLanding({ kind, token }: LinkToken): Promise<Landing> {
  const body = { token };
  if (kind === 'link') return { title: 'Sign in by the link in your mail', fields: [] };
  if (kind === 'owner') {
    const path = '/owner/show';
    const { company } = await sendToGate<{ company: { name: string } }>('POST', path, { body });
    const title = `Become the owner of ${company.name}`;
    return { title, fields: [EMAIL, buildNameField(null), NEW_PASSWORD] };
  }
  const path = '/invitation/show';
  const { invitation } = await sendToGate<{ invitation: Invitation }>('POST', path, { body });
  const { company, email, name } = invitation;
  return {
    title: `${company.name} invites ${email}`,
    fields: [buildNameField(name), NEW_PASSWORD],
  };
}

interface LinkLandingProps {
  link: LinkToken;
  onState: (state: SignInState) => Promise<void>;
}

/** The page to which a link leads: who was invited chooses a password, and is signed in. */
export function LinkLanding({ link, onState }: LinkLandingProps) {
  const { data, error } = useLoaded(() => loadLanding(link), []);
  return (
    <>
      <Problem error={explainLink(error)} />
      {data && (
        <AskForm
          fields={data.fields}
          submit="Sign in"
          send={async (answers) =>
            onState(
              await sendToGate('POST', PATHS[link.kind], {
                body: { ...answers, token: link.token },
              }),
            )
          }
        >
          <h2>{data.title}</h2>
        </AskForm>
      )}
      <button type="button" onClick={dropLinkToken}>
        Go on without this link
      </button>
    </>
  );
}
