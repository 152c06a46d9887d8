import type { Sql } from '../../data/sql';
import { StartError } from '../../platform/start-error';
import { formatProcesses, listOtherProcesses, type RunningProcess } from './running-processes';
import {
  acceptSettings,
  listDifferences,
  readSettings,
  type SharedSettings,
} from './shared-settings';

export class OtherSettings extends StartError {
  constructor(differences: string[], otherProcesses: RunningProcess[]) {
    super(
      'What must be equal in all processes of this database is not ' +
        `(running: ${formatProcesses(otherProcesses)}):\n` +
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
export async function claimSettings(sql: Sql, ownSettings: SharedSettings): Promise<void> {
  const recorded = await readSettings(sql);
  const differences = listDifferences(recorded, ownSettings);
  if (differences.length > 0) {
    const otherProcesses = await listOtherProcesses(sql);
    if (otherProcesses.length > 0) throw new OtherSettings(differences, otherProcesses);
  }
  await acceptSettings(sql, { ...recorded, ...ownSettings });
}
