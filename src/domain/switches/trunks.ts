import { noun } from '../../api/records/noun';
import type { Deps } from '../deps';

/**
 * Lines of softswitches to the telephone network. A change locks the trunk alone; calls lock trunks
 * with a limit before their caps (prisma/sql/switches/reserve_trunks.sql).
 */
const trunk = noun({
  schema: 'Trunk',
  singular: 'trunk',
  plural: 'trunks',
  search: ['name', 'host', 'external_record_id'],
  references: ['switch_id'],
  computed: {
    calls_in_use: 'count_trunk_calls(t.company_id, t.id)',
  },
});

export const trunks = (deps: Deps) => trunk.handlers(deps);
