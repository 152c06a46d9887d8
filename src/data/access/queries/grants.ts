import { sql, statement } from '../../sql';

const GRANT_BUYER = statement(
  'db.grant_buyer',
  sql`
    INSERT INTO access_control_list_buyers (company_id, access_control_list_id, buyer_id)
    SELECT {company_id}, team, {id} FROM unnest({scope_teams}::bigint[]) AS team
  `,
  { prepared: false },
);

const GRANT_BUYER_GROUP = statement(
  'db.grant_buyer_group',
  sql`
    INSERT INTO access_control_list_buyer_groups
      (company_id, access_control_list_id, buyer_group_id)
    SELECT {company_id}, team, {id} FROM unnest({scope_teams}::bigint[]) AS team
  `,
  { prepared: false },
);

const GRANT_OFFER = statement(
  'db.grant_offer',
  sql`
    INSERT INTO access_control_list_offers (company_id, access_control_list_id, offer_id)
    SELECT {company_id}, team, {id} FROM unnest({scope_teams}::bigint[]) AS team
  `,
  { prepared: false },
);

const GRANT_TRAFFIC_SOURCE = statement(
  'db.grant_traffic_source',
  sql`
    INSERT INTO access_control_list_traffic_sources
      (company_id, access_control_list_id, traffic_source_id)
    SELECT {company_id}, team, {id} FROM unnest({scope_teams}::bigint[]) AS team
  `,
  { prepared: false },
);

export const GRANT = {
  buyer: GRANT_BUYER,
  buyer_group: GRANT_BUYER_GROUP,
  offer: GRANT_OFFER,
  traffic_source: GRANT_TRAFFIC_SOURCE,
};
