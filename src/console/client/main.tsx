import { render } from 'preact';
import './style/index.css';
import { SessionProvider, useSignIn } from './session';
import { Shell } from './shell';
import { useLinkToken } from './sign-in/link-token';
import { SignIn } from './sign-in/sign-in';

function Console() {
  const { session, ...signIn } = useSignIn();
  const link = useLinkToken();
  // A link is followed also by who is signed in: it may be for another person.
  if (!session || link)
    return (
      <SignIn
        {...signIn}
        link={link}
        onKey={signIn.signInByKey}
        onState={signIn.enter}
        onRetry={() => void signIn.load()}
      />
    );
  return (
    <SessionProvider session={session}>
      <Shell session={session} />
    </SessionProvider>
  );
}

render(<Console />, document.getElementById('root')!);
