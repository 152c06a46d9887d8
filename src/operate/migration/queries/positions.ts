import { sql, statement } from '../../../data/sql';

// Position up to which each resource of a source was read.

export const READ_POSITION = statement(
  'migration.read_position',
  sql`
    SELECT cursor
    FROM migration_positions
    WHERE company_id = {company_id} AND source = {source} AND resource = {resource}
  `,
  { prepared: false },
);

export const HAS_POSITION = statement(
  'migration.has_position',
  sql`
    SELECT EXISTS (
      SELECT FROM migration_positions WHERE company_id = {company_id} AND source = {source}
    ) AS has_position
  `,
  { prepared: false },
);

export const SAVE_POSITION = statement(
  'migration.save_position',
  sql`
    INSERT INTO migration_positions (company_id, source, resource, cursor)
    VALUES ({company_id}, {source}, {resource}, {cursor})
    ON CONFLICT (company_id, source, resource) DO UPDATE SET cursor = excluded.cursor
  `,
  { prepared: false },
);

/** The next run reads everything again, and thus finds new records. */
export const DELETE_POSITIONS = statement(
  'migration.delete_positions',
  sql`DELETE FROM migration_positions WHERE company_id = {company_id} AND source = {source}`,
  { prepared: false },
);
