import type { Json } from '../../transport';
import type { SecretReader } from '../../secrets';

/** Where the service sends no mail, the answer to an invitation has its link, once. */
export const readInvitation: SecretReader = (answer) => {
  const user = answer.user as Json | undefined;
  return [['Link of the invitation', answer.invitation_link ?? user?.invitation_link]];
};
