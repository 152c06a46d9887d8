import type { Sql } from '../db/sql';
import { StartError } from '../start-error';
import { namesOf, othersOn, type RunningProcess } from './running-processes';
import {
  acceptSettings,
  differencesOf,
  readSettings,
  type SharedSettings,
} from './shared-settings';

export class OtherSettings extends StartError {
  constructor(differences: string[], others: RunningProcess[]) {
    super(
      `What must be equal in all processes of this database is not (running: ${namesOf(others)}):\n` +
        differences.map((difference) => `  - ${difference}\n`).join('') +
        'Set it as it is there. To change it on purpose, stop all processes first; or, to change ' +
        'it while they run, run "npx trunkline settings accept" with the new settings, and then ' +
        'start each process again with them.',
    );
  }
}

/**
 * Compares the settings of a starting process with those of the installation. If they differ, they
 * replace those of the installation, provided that no other process runs. Call it under the lock of
 * migrations.
 */
export async function claimSettings(sql: Sql, own: SharedSettings): Promise<void> {
  const recorded = await readSettings(sql);
  const differences = differencesOf(recorded, own);
  if (differences.length > 0) {
    const others = await othersOn(sql);
    if (others.length > 0) throw new OtherSettings(differences, others);
  }
  await acceptSettings(sql, { ...recorded, ...own });
}
