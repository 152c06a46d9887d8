import { ok } from '../api';
import { useLoaded } from '../loading';
import { useSession, type Session } from '../session';

/** True where the installation has no carrier: what a new number would have says so. */
async function sellsPracticeNumbers({ api, may }: Session): Promise<boolean> {
  if (!may('phone_numbers:create')) return false;
  const { number } = await ok(api.GET('/phone_numbers/new'));
  return number.carrier === 'sandbox';
}

/** Says that bought numbers are not real, and where to read about making them so. */
export function PracticeNotice() {
  const session = useSession();
  const loaded = useLoaded(() => sellsPracticeNumbers(session), [session]);
  if (!loaded.data) return null;
  return (
    <p class="notice warn">
      No carrier is connected: numbers that are bought here are practice numbers, and no telephone
      can ring them. Whoever runs this server connects one with its settings: page “Configure” of
      the documents, section “Carriers”.
    </p>
  );
}
