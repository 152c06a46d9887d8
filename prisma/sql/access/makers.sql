-- Makers: limited users whose records act later, and may then do no more than their makers.

-- Those of the teams with which a record was made that its maker is still in, and that still give
-- one of these permissions. None once the maker is deleted.
CREATE OR REPLACE FUNCTION maker_teams(
  company bigint,
  maker bigint,
  teams bigint[],
  wanted text[]
) RETURNS bigint[] LANGUAGE sql STABLE AS $$
  SELECT coalesce(array_agg(t.id ORDER BY t.id), '{}')
  FROM access_control_list_users m
  JOIN users u ON u.company_id = m.company_id AND u.id = m.user_id AND u.deleted_at IS NULL
  JOIN access_control_lists t
    ON t.company_id = m.company_id AND t.id = m.access_control_list_id AND t.deleted_at IS NULL
  WHERE m.company_id = company AND m.user_id = maker AND t.id = ANY (teams)
    AND (t.superuser OR t.permissions && wanted)
$$;

-- Whether one of these teams is granted the offer.
CREATE OR REPLACE FUNCTION maker_has_offer(
  company bigint,
  maker bigint,
  teams bigint[],
  wanted text[],
  offer bigint
) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (
    SELECT FROM access_control_list_offers g
    WHERE g.company_id = company AND g.offer_id = offer
      AND g.access_control_list_id = ANY (maker_teams(company, maker, teams, wanted))
  )
$$;
