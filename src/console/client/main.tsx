import { render } from 'preact';
import 'uplot/dist/uPlot.min.css';
import './style/index.css';
import { SessionProvider, useSignIn } from './session';
import { Shell } from './shell';
import { SignIn } from './sign-in';

function Console() {
  const { session, error, is_busy, signIn } = useSignIn();
  if (!session)
    return (
      <SignIn
        onSignIn={(credentials) => void signIn(credentials)}
        error={error}
        is_busy={is_busy}
      />
    );
  return (
    <SessionProvider session={session}>
      <Shell session={session} />
    </SessionProvider>
  );
}

render(<Console />, document.getElementById('root')!);
