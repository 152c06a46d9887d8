import { sql, statement } from '../../db/sql';

/** Of all companies. A ping whose reservation is still held is kept. */
export const DELETE_EXPIRED_PINGS = statement(
  'ping_post.delete_expired_pings',
  sql`
    DELETE FROM pings p
    WHERE p.created_at < now() - interval '24 hours'
      AND NOT EXISTS (
        SELECT
        FROM call_holds reservation
        WHERE reservation.company_id = p.company_id AND reservation.ping_id = p.id
      )
  `,
  { prepared: false },
);
