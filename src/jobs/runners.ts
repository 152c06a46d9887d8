import type { Deps } from '../deps';
import { eraseSuppressionList } from '../workflows/erase-suppression-list';
import { importSuppressionFile } from '../workflows/import-suppression-file';
import type { Runners } from './queue';

/** Every kind of job and the workflow that does it: a kind without one does not compile. */
export const createRunners = (deps: Deps): Runners => ({
  import_suppression_file: (payload, context) => importSuppressionFile(payload, context, deps),
  erase_suppression_list: (payload, context) => eraseSuppressionList(payload, context, deps),
});
