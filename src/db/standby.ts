import { openDatabase, type Database, type DatabaseOptions } from './client';
import { pauseUnless } from './hosts';
import { REPLAYED, WRITTEN } from './queries/standby';

// A standby that reads may go to, and how old is what it shows. Its own word for that cannot be
// relied on: a standby that has lost its primary takes itself for complete. So the place up to which
// the primary has written is noted every second, and the standby shows at least what was written at
// the newest of those times whose place it has reached.

/** Older data is not read from a standby. */
export const MAX_AGE_MS = 30_000;
const LOOK_MS = 1_000;

interface Noted {
  at: number;
  place: bigint;
}

/** How old is what a standby shows, from what the primary and the standby say. */
export class Ages {
  /** Oldest first. */
  private noted: Noted[] = [];
  private replayed: bigint | undefined;

  /** The primary had written up to `place` at some time after `at`. */
  written(place: bigint, at: number): void {
    // After a failover, the new primary may have less than the old one had.
    if (place < (this.noted.at(-1)?.place ?? 0n)) this.noted = [];
    this.noted.push({ at, place });
    while (this.noted.length > 1 && this.noted[0]!.at < at - 2 * MAX_AGE_MS) this.noted.shift();
  }

  /** The standby shows everything up to `place`; undefined: it cannot be read. */
  shown(place: bigint | undefined): void {
    this.replayed = place;
  }

  /** In milliseconds, at most; undefined: too old, not known, or not to be read. */
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
  /** How old what it shows is at most, in milliseconds; undefined: it must not be read. */
  age(): number | undefined;
  close(): Promise<void>;
}

interface StandbyOptions extends DatabaseOptions {
  primary: Database;
  /** Called with what changes: whether the standby is read, and if not, why. */
  onChange: (reason: string | undefined) => void;
}

/** Opens a standby and looks every second how old it is. */
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
      // After the first look, the standby has reached no place that was noted.
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

/** Returns why the standby cannot be read, if it cannot. */
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
