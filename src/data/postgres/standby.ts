import { openDatabase, type Database, type DatabaseOptions } from '../client';
import { pauseUntilStopped } from './hosts';
import { REPLAYED, WRITTEN } from './queries/standby';

// A standby for reads, and the age of its data. A standby cannot be trusted about its age: one that
// has lost its primary considers itself up to date. Therefore the write position of the primary is
// recorded every second; the standby shows at least everything written by the newest of these times
// whose position it has reached.

/** Older data is not read from a standby. */
export const MAX_AGE_MS = 30_000;
const LOOK_MS = 1_000;

interface WalMark {
  at: number;
  position: bigint;
}

export class Ages {
  /** Oldest first. */
  private marks: WalMark[] = [];
  private replayed: bigint | undefined;

  /** The primary had written up to `position` at some time after `at`. */
  recordWritten(position: bigint, at: number): void {
    // After a failover, the new primary may have less than the old one had.
    if (position < (this.marks.at(-1)?.position ?? 0n)) this.marks = [];
    this.marks.push({ at, position });
    while (this.marks.length > 1 && this.marks[0]!.at < at - 2 * MAX_AGE_MS) this.marks.shift();
  }

  /** The standby shows everything up to `position`; undefined if it cannot be read. */
  recordShown(position: bigint | undefined): void {
    this.replayed = position;
  }

  /** Maximum age in milliseconds; undefined if too old, unknown, or not to be read. */
  findAge(now: number): number | undefined {
    const { replayed } = this;
    if (replayed === undefined) return undefined;
    const reached = this.marks.findLast(({ position }) => position <= replayed);
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
    let wasBehind = false;
    while (!closing.signal.aborted) {
      const fault = await checkStandby({ primary, standby: database, ages });
      // After the first check, the standby has reached no recorded position.
      const isBehind = !fault && ages.findAge(Date.now()) === undefined;
      const reason = fault ?? (isBehind ? 'it is too far behind' : undefined);
      const isSure = !isBehind || wasBehind;
      if (isSure && reason !== last && !closing.signal.aborted) onChange(reason);
      if (isSure) last = reason;
      wasBehind = isBehind;
      await pauseUntilStopped(LOOK_MS, closing.signal);
    }
  }
  return {
    database,
    age: () => ages.findAge(Date.now()),
    close: async () => {
      closing.abort();
      await watching;
      await database.close();
    },
  };
}

/** Returns the reason if the standby cannot be read. */
async function checkStandby({
  primary,
  standby,
  ages,
}: {
  primary: Database;
  standby: Database;
  ages: Ages;
}): Promise<string | undefined> {
  const at = Date.now();
  const [primaryResult, standbyResult] = await Promise.allSettled([
    primary.sql(WRITTEN, {}),
    standby.sql(REPLAYED, {}),
  ]);
  const primaryRow = primaryResult.status === 'fulfilled' ? primaryResult.value[0] : undefined;
  if (primaryRow) ages.recordWritten(BigInt(primaryRow.place), at);
  const standbyRow = standbyResult.status === 'fulfilled' ? standbyResult.value[0]! : undefined;
  const isOther = primaryRow && standbyRow && primaryRow.cluster !== standbyRow.cluster;
  ages.recordShown(standbyRow && !isOther ? BigInt(standbyRow.place) : undefined);
  if (isOther) return 'DATABASE_READ_URL is another database than DATABASE_URL';
  return standbyResult.status === 'rejected' ? String(standbyResult.reason) : undefined;
}
