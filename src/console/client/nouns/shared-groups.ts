import { CAP_FIELDS, CAP_LABELS, CapsGrid } from '../editors/caps-grid';
import { InvitedPeople, PeopleSummary } from '../views/people/invited-people';
import type { FieldLayout, GroupLayout } from './layout';

// Groups of fields that several nouns have.

const TEAMS: FieldLayout = {
  field: 'team_ids',
  label: 'Teams that see it',
  help: 'A team that is taken away sees it no longer.',
};

/**
 * Inviting people: the API makes a team for them, and sends their invitations. Some nouns do not
 * take teams that exist.
 */
export const buildSignInGroup = (
  people: string,
  sees: string,
  { hasTeams = true } = {},
): GroupLayout => ({
  title: 'Who may sign in',
  summary: PeopleSummary,
  help: `Invite the people of the ${people}: they get an e-mail with a link, and see ${sees}, nothing else.`,
  fields: [
    {
      field: 'team_users_emails',
      label: 'Invite these people',
      editor: InvitedPeople,
      help: 'They get a team of their own. Who has been invited already is not invited again.',
    },
    {
      field: 'team_offer_ids',
      label: 'They see only calls to these offers',
      help: 'Empty: calls to all offers.',
    },
    {
      field: 'generate_team',
      label: 'Make a team without inviting anybody',
      help: 'For people whom you invite later.',
    },
    ...(hasTeams ? [TEAMS] : []),
  ],
});

/** The caps of a noun, each next to what is used of it. */
export const CAPS: GroupLayout = {
  title: 'Caps',
  help: 'An empty limit is no limit.',
  fields: CAP_FIELDS,
  labels: CAP_LABELS,
  editor: CapsGrid,
};

/** Changed on a panel of the page, one buyer at a time, or by programs. */
export const MEMBER_FIELDS = [
  'add_buyer_ids',
  'remove_buyer_ids',
  'add_user_buyer_ids',
  'remove_user_buyer_ids',
] as const;

/** How many records a column of ids names. */
export const countIds = (ids: unknown): string => String(Array.isArray(ids) ? ids.length : 0);
