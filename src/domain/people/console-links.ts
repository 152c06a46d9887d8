// Links into the console. Tokens are in the fragment, which browsers do not send: no log of a proxy
// has them, and no page that is opened next.

interface Address {
  public_url: string;
}

const buildLink = ({ public_url }: Address, view: string, token: string): string =>
  `${public_url}/console/#/${view}?token=${token}`;

export const buildInvitationLink = (config: Address, token: string): string =>
  buildLink(config, 'invitation', token);

export const buildSignInLink = (config: Address, token: string): string =>
  buildLink(config, 'link', token);

export const buildOwnerLink = (config: Address, token: string): string =>
  buildLink(config, 'owner', token);
