import { dayTime } from '../../format';
import { useAction } from '../../loading';
import type { PanelProps } from '../../nouns/layout';
import { Panel, Problem } from '../../parts/basics';
import { useSession } from '../../session';
import { isOpenInvitation, isPassedOn, maySeeLink, showInvitationLink } from './invitation';

/** The page of a user says that an invitation is open, and how it reaches the person. */
export function InvitationPanel({ record }: PanelProps) {
  const session = useSession();
  const link = useAction(() => showInvitationLink(session, String(record.id)));
  if (!isOpenInvitation(record)) return null;
  return (
    <Panel title="Invitation">
      <p>
        {String(record.email)} was invited on {dayTime(record.invited_at as string)}, and has not
        signed in yet.{' '}
        {isPassedOn(session)
          ? 'No mail is sent here: pass on the link.'
          : 'A mail with a link went to this address.'}{' '}
        The link works for seven days, and until the next invitation.
      </p>
      {maySeeLink(session, record) && (
        <button type="button" disabled={link.is_busy} onClick={() => void link.run()}>
          Show the link
        </button>
      )}
      <Problem error={link.error} />
    </Panel>
  );
}
