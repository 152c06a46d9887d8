import { ok } from '../api';
import { useLoaded } from '../loading';
import { useSession } from '../session';

/**
 * True where a telephone can ring: a switch, or numbers of a carrier. Undefined until that is
 * loaded, and where the caller may not see both.
 */
export function useLine(): boolean | undefined {
  const { api, may } = useSession();
  const loaded = useLoaded(async () => {
    const [maySeeNumbers, maySeeSwitches] = [may('phone_numbers:read'), may('switches:read')];
    const [{ numbers }, { switches }] = await Promise.all([
      maySeeNumbers
        ? ok(
            api.GET('/phone_numbers', {
              params: { query: { per_page: 100, order_dir: 'desc', columns: ['id', 'carrier'] } },
            }),
          )
        : { numbers: [] },
      maySeeSwitches
        ? ok(api.GET('/switches', { params: { query: { per_page: 1 } } }))
        : { switches: [] },
    ]);
    const hasLine =
      switches.length > 0 || numbers.some(({ carrier }) => carrier && carrier !== 'sandbox');
    return hasLine || (maySeeNumbers && maySeeSwitches ? false : undefined);
  }, [api]);
  return loaded.data;
}
