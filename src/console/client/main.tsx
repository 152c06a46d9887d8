import { render } from 'preact';
import './style/index.css';
import { SessionProvider, useSignIn } from './session';
import { lazy } from './lazy';
import { Shell } from './shell';
import { useLinkToken } from './sign-in/link-token';
import { SignIn } from './sign-in/sign-in';

const Board = lazy(async () => (await import('./views/board/board')).BoardPage);

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

const isBoard = location.pathname.endsWith('/board');
render(isBoard ? <Board /> : <Console />, document.getElementById('root')!);
