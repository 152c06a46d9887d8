import type { Schemas } from '../../platform/contract/contract';
import { grantToTeams } from '../../data/access/scope';
import { changeBuyers } from '../../data/attachments';
import type { SortKey } from '../../data/projection/list-statements';
import type { Deps } from '../deps';
import { noun, selectIds } from '../../api/records/noun';
import { changeTeams, resolveTeamChanges } from '../people/change-teams';
import { leaveTeams } from '../people/leave-teams';
import { buildPauseColumns } from '../people/paused-by';
import { capColumns, limitsJoin, usedSql } from '../caps/cap-columns';
import { isLimit, pickLimits } from '../caps/cap-limits';
import { changeCaps, buildOwnerWrite, openCaps, type OwnerKind } from '../caps/cap-owners';
import { CAPS } from '../caps/caps';

// Groups of buyers that are dialed together and share caps of their own. A write locks the offers
// of the group's teams, then the group, then its buyers.

const MEMBERS = 'buyer_group_members';
const caps = capColumns('l');
const inProgress: SortKey = { sql: caps.concurrency_cap_used, type: 'bigint' };

const buyerGroup = noun({
  schema: 'BuyerGroup',
  singular: 'buyer_group',
  plural: 'buyer_groups',
  joins: { l: limitsJoin('buyer_group_id') },
  search: ['name', 'external_record_id'],
  computed: {
    ...caps,
    buyer_ids: selectIds(MEMBERS, 'buyer_group_id', 'buyer_id'),
    buyers_count: `(SELECT count(*) FROM ${MEMBERS} m
      WHERE m.company_id = t.company_id AND m.buyer_group_id = t.id)`,
    maxed_out: `(${caps.maxed_out_by}) IS NOT NULL`,
    call_limit_id: 'l.id',
    team_ids: selectIds(
      'access_control_list_buyer_groups',
      'buyer_group_id',
      'access_control_list_id',
    ),
  },
  orders: {
    'call_limits.in_progress_count': inProgress,
    'call_limits.in_progress_used': inProgress,
    ...Object.fromEntries(
      CAPS.map(({ used }): [string, SortKey] => [
        `call_limits.${used}`,
        { sql: usedSql(used), type: 'numeric' },
      ]),
    ),
  },
  detach: { deleted: ['buyerGroupMember', 'offerBuyerGroup'] },
});
export const { projection } = buyerGroup;

type Fields = Schemas['BuyerGroupFields'] & { name?: string | null };

export const buyerGroups = (deps: Deps) =>
  buyerGroup.handlers(deps, {
    reads: ['paused', 'time_zone'],
    statement: (request) => buildOwnerWrite(KIND, request),

    lock: ({ tx, fields, caller }) => resolveTeamChanges(tx, 'buyer_group', { fields, caller }),

    columns: ({ fields: { paused }, before, caller, now }) =>
      buildPauseColumns(before ?? { paused: false }, paused, { caller, now }),

    save: async ({ tx, id, fields, before, locked: teams, caller, now }) => {
      const owner = { id, fields, caller };
      if (before) await changeCaps(tx, KIND, { ...owner, time_zone: before.time_zone, now });
      else await openCaps(tx, KIND, owner);
      await changeBuyers(tx, MEMBERS, id, fields);
      if (!before) await grantToTeams(tx, 'buyer_group', id);
      await changeTeams(tx, { kind: 'buyer_group', id }, teams, { ...deps, caller, now });
    },

    deletion: {
      detach: ({ tx, id, now }) => leaveTeams(tx, { kind: 'buyer_group', id }, now),
    },
  });

/**
 * In the contract the concurrency limit of a group is `concurrency_cap`, that of a buyer
 * `concurrency_cap_limit`.
 */
const KIND: OwnerKind = {
  table: 'buyer_groups',
  key: 'buyer_group_id',
  isLimitOrColumn: (name) => isLimit(name) || name === 'concurrency_cap',
  toLimits: ({ concurrency_cap, ...fields }: Fields) =>
    pickLimits({ ...fields, concurrency_cap_limit: concurrency_cap }),
};
