import { noun } from '../../api/records/noun';

const MEMBERS = 'buyers m WHERE m.company_id = t.company_id AND m.buyer_fleet_id = t.id';

/** Fleets: named sets of buyers. A buyer is in at most one. */
export const buyerFleet = noun({
  schema: 'BuyerFleet',
  singular: 'buyer_fleet',
  plural: 'buyer_fleets',
  search: ['name', 'user_fleet_id', 'description', 'external_record_id'],
  computed: {
    buyers_count: `(SELECT count(*) FROM ${MEMBERS})`,
    buyer_ids: `ARRAY(SELECT m.id FROM ${MEMBERS} ORDER BY m.id)`,
  },
  detach: { cleared: ['buyer'] },
});
