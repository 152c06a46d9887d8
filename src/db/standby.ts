import { openDatabase, type Database, type DatabaseOptions } from './client';
import { pauseUnless } from './hosts';
import { REPLAYED, WRITTEN } from './queries/standby';

// A standby for reads, and the age of its data. A standby cannot be trusted about its age: one that
// has lost its primary considers itself up to date. Therefore the write position of the primary is
// recorded every second; the standby shows at least everything written by the newest of these times
// whose position it has reached.

/** Older data is not read from a standby. */
export const MAX_AGE_MS = 30_000;
const LOOK_MS = 1_000;

interface Noted {
  at: number;
  place: bigint;
}

export class Ages {
  /** Oldest first. */
  private noted: Noted[] = [];
  private replayed: bigint | undefined;

  /** The primary had written up to `position` at some time after `at`. */
  written(place: bigint, at: number): void {
    // After a failover, the new primary may have less than the old one had.
    if (place < (this.noted.at(-1)?.place ?? 0n)) this.noted = [];
    this.noted.push({ at, place });
    while (this.noted.length > 1 && this.noted[0]!.at < at - 2 * MAX_AGE_MS) this.noted.shift();
  }

  /** The standby shows everything up to `position`; undefined if it cannot be read. */
  shown(place: bigint | undefined): void {
    this.replayed = place;
  }

  /** Maximum age in milliseconds; undefined if too old, unknown, or not to be read. */
  ageAt(now: number): number | undefined {
    const { replayed } = this;
    if (replayed === undefined) return undefined;
    const reached = this.noted.findLast(({ place }) => place <= replayed);
    const age = reached && now - reached.at;
    return age !== undefined && age <= MAX_AGE_MS ? age : undefined;
  }
}

export interface Standby {
  database: Database;
  /** Maximum age of its data in milliseconds; undefined if it must not be read. */
  age(): number | undefined;
  close(): Promise<void>;
}

interface StandbyOptions extends DatabaseOptions {
  primary: Database;
  /** Called on each change, with the reason if the standby is not read. */
  onChange: (reason: string | undefined) => void;
}

/** Opens a standby and checks its age every second. */
export function openStandby(
  url: string,
  { primary, onChange, ...options }: StandbyOptions,
): Standby {
  const database = openDatabase(url, options);
  const ages = new Ages();
  const closing = new AbortController();
  const watching = watch();
  async function watch() {
    let last: string | undefined = 'not read yet';
    let was_behind = false;
    while (!closing.signal.aborted) {
      const fault = await look({ primary, standby: database, ages });
      // After the first check, the standby has reached no recorded position.
      const is_behind = !fault && ages.ageAt(Date.now()) === undefined;
      const reason = fault ?? (is_behind ? 'it is too far behind' : undefined);
      const is_sure = !is_behind || was_behind;
      if (is_sure && reason !== last && !closing.signal.aborted) onChange(reason);
      if (is_sure) last = reason;
      was_behind = is_behind;
      await pauseUnless(LOOK_MS, closing.signal);
    }
  }
  return {
    database,
    age: () => ages.ageAt(Date.now()),
    close: async () => {
      closing.abort();
      await watching;
      await database.close();
    },
  };
}

/** Returns the reason if the standby cannot be read. */
async function look({
  primary,
  standby,
  ages,
}: {
  primary: Database;
  standby: Database;
  ages: Ages;
}): Promise<string | undefined> {
  const at = Date.now();
  const [written, replayed] = await Promise.allSettled([
    primary.sql(WRITTEN, {}),
    standby.sql(REPLAYED, {}),
  ]);
  const own = written.status === 'fulfilled' ? written.value[0] : undefined;
  if (own) ages.written(BigInt(own.place), at);
  const shown = replayed.status === 'fulfilled' ? replayed.value[0]! : undefined;
  const is_other = own && shown && own.cluster !== shown.cluster;
  ages.shown(shown && !is_other ? BigInt(shown.place) : undefined);
  if (is_other) return 'DATABASE_READ_URL is another database than DATABASE_URL';
  return replayed.status === 'rejected' ? String(replayed.reason) : undefined;
}
