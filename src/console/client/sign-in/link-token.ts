import { goTo } from '../route';
import { useSyncExternalStore } from '../store';

/** A link that lets a person in: of an invitation, of the first owner, or to sign in. */
export interface LinkToken {
  kind: 'invitation' | 'owner' | 'link';
  token: string;
}

let link: LinkToken | undefined;
const listeners = new Set<() => void>();

function change(next: LinkToken | undefined): void {
  link = next;
  for (const changed of listeners) changed();
}

/** Takes a token out of the address at once: neither the history nor a copied address has it. */
function takeToken(): void {
  const match = /^#\/(invitation|owner|link)\?(.*)$/.exec(location.hash);
  const token = new URLSearchParams(match?.[2]).get('token');
  if (!match || token === null) return;
  goTo('#/', { replace: true });
  change({ kind: match[1] as LinkToken['kind'], token });
}
takeToken();
addEventListener('hashchange', takeToken);

export const useLinkToken = (): LinkToken | undefined =>
  useSyncExternalStore(listeners, () => link);

export const dropLinkToken = (): void => change(undefined);
