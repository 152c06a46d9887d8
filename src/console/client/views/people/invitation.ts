import { openOwnGate } from '../../account/gate';
import { ApiError } from '../../api-error';
import { showSecrets } from '../../secrets';
import type { Session } from '../../session';
import type { Json } from '../../transport';

/** Where the service sends no mail, who invites passes the link on. */
export const isPassedOn = ({ person }: Session): boolean => person?.sends_mail === false;

/** An invitation that its user has not taken yet. */
export const isOpenInvitation = ({ joined_at: joined, invited_at: invited }: Json): boolean =>
  !joined && Boolean(invited);

/** Links are shown only where no mail brings them, and to those who see the whole company. */
export const maySeeLink = (session: Session, user: Json): boolean =>
  isOpenInvitation(user) &&
  isPassedOn(session) &&
  session.me.team_ids === null &&
  session.may('users:update');

/** How the invitation reaches its person. */
export const describeDelivery = (session: Session): string =>
  isPassedOn(session)
    ? 'No mail is sent here: pass on the link of the invitation'
    : 'A mail with a link is on its way';

export async function showInvitationLink(session: Session, id: string): Promise<void> {
  showSecrets(
    [['Link of the invitation', await loadInvitationLink(session, id)]],
    'Whoever has it becomes this user. Give it to this person alone.',
  );
}

async function loadInvitationLink(session: Session, id: string): Promise<string> {
  const send = openOwnGate(session);
  try {
    return (await send<{ link: string }>('POST', `/users/${id}/invitation_link`, {})).link;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404)
      throw new Error('The invitation has ended. Invite the user again.', { cause: error });
    throw error;
  }
}
