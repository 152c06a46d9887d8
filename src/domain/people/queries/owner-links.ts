import { sql, statement } from '../../../data/sql';

export const OPEN_OWNER_LINK = statement(
  'people.open_owner_link',
  sql`
    UPDATE companies
    SET owner_link_number = owner_link_number + 1, owner_link_open = true
    WHERE id = {company_id}
    RETURNING owner_link_number AS number`,
  { prepared: false },
);

export const FIND_OPEN_OWNER_LINK = statement(
  'people.find_open_owner_link',
  sql`
    SELECT name
    FROM companies
    WHERE id = {company_id} AND owner_link_number = {number} AND owner_link_open
      AND removed_at IS NULL`,
  { prepared: false },
);

/** A row for the first who opens the link; it locks the company. */
export const TAKE_OWNER_LINK = statement(
  'people.take_owner_link',
  sql`
    UPDATE companies
    SET owner_link_open = false
    WHERE id = {company_id} AND owner_link_number = {number} AND owner_link_open
      AND removed_at IS NULL
    RETURNING id`,
  { prepared: false },
);

export const LOCK_OWNERS = statement(
  'people.lock_owners',
  sql`
    SELECT id::text
    FROM access_control_lists
    WHERE company_id = {company_id} AND name = {name} AND superuser AND deleted_at IS NULL
    ORDER BY id
    LIMIT 1
    FOR UPDATE`,
  { prepared: false },
);
