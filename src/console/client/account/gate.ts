import { ApiError } from '../api-error';
import { useSession, type Session } from '../session';
import type { AskedField } from '../sign-in/ask-form';
import { sendToGate, type PersonSession, type SignInState } from '../sign-in/gate';

type OwnRequest = <T = SignInState>(
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  body?: Record<string, string>,
) => Promise<T>;

/** Sends requests of the signed-in person that the API does not have. */
export const openOwnGate =
  ({ person, transport }: Session): OwnRequest =>
  async (method, path, body) => {
    try {
      return await sendToGate(method, path, { csrf: person!.csrf, ...(body && { body }) });
    } catch (error) {
      // A password or a code that is wrong is refused like a session that has ended.
      if (error instanceof ApiError && error.status === 401) transport.onRefused();
      throw error;
    }
  };

export const useOwnGate = (): OwnRequest => openOwnGate(useSession());

export interface AccountProps {
  own: PersonSession;
  reload: () => Promise<void>;
}

/**
 * The field that shows that it is the person. Signing in without a password stands for one for a
 * quarter of an hour.
 */
export const listProofs = (own: PersonSession, name: string): AskedField[] =>
  own.has_password
    ? [
        {
          name,
          label: 'Present password',
          type: 'password',
          autocomplete: 'current-password',
          ...(own.method !== 'password' && {
            is_optional: true,
            hint: 'May be left empty for 15 minutes after you signed in without it.',
          }),
        },
      ]
    : [];
