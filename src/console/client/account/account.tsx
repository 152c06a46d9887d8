import { dayTime, words } from '../format';
import { useLoaded } from '../loading';
import { Facts, Panel, Show } from '../parts/basics';
import { AskForm, NEW_PASSWORD } from '../sign-in/ask-form';
import type { PersonSession } from '../sign-in/gate';
import { showToast } from '../toast';
import { listProofs, useOwnGate, type AccountProps } from './gate';
import { SecondFactor } from './second-factor';
import { Sessions } from './sessions';

/** The own account of a signed-in person. */
export function AccountView() {
  const send = useOwnGate();
  const loaded = useLoaded(async () => (await send('GET', '/session')).session, []);
  return (
    <div class="account">
      <h1>My account</h1>
      <Show of={loaded}>
        {(own) =>
          own && (
            <>
              <div class="grid">
                <About own={own} />
                <Password own={own} reload={loaded.reload} />
                <SecondFactor own={own} reload={loaded.reload} />
              </div>
              <Sessions />
            </>
          )
        }
      </Show>
    </div>
  );
}

const About = ({ own }: { own: PersonSession }) => (
  <Panel title="You">
    <Facts
      facts={[
        ['Name', own.user.name],
        ['E-mail address', own.user.email],
        ['Company', own.company.name],
        ['Signed in by', words(own.method)],
        ['Ends unused', dayTime(own.idle_ends_at)],
        ['Ends in any case', dayTime(own.ends_at)],
      ]}
    />
  </Panel>
);

function Password({ own, reload }: AccountProps) {
  const send = useOwnGate();
  return (
    <Panel title="Password">
      <AskForm
        fields={[...listProofs(own, 'current_password'), NEW_PASSWORD]}
        submit="Change the password"
        send={async (body) => {
          await send('PUT', '/password', body);
          showToast('Changed. Your other sessions have ended.');
          await reload();
        }}
      >
        <p class="quiet">Your other sessions end with the old password.</p>
      </AskForm>
    </Panel>
  );
}
