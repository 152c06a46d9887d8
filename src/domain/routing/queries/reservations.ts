import { sql, statement } from '../../../data/sql';
import type { ChosenBuyers } from '../engine/reserved-choice';

/** The driver returns these columns with types that are too wide. */
interface ReservationColumns {
  id: number;
  buyer_ids: number[];
  buyer_group_id: number | null;
  slots: ChosenBuyers['slots'];
  caps: ChosenBuyers['caps'];
}

const RESERVATION_COLUMNS = sql`
  r.id::float8 AS id,
  r.buyer_ids::float8[] AS buyer_ids,
  r.buyer_group_id::float8 AS buyer_group_id,
  r.slots,
  r.caps,
  r.expires_at
`;

/**
 * The reservation for the next call of a caller to an offer, `asked.number` and `asked.offer_id`:
 * posted ones first, then the oldest.
 */
export const AWAITED_RESERVATION = sql`
    SELECT
      ${RESERVATION_COLUMNS},
      p.traffic_source_id::float8 AS traffic_source_id,
      p.sub_id,
      p.token_values
    FROM call_holds r
    JOIN pings p ON p.company_id = r.company_id AND p.id = r.ping_id
    WHERE r.company_id = {company_id} AND r.caller_number = asked.number
      AND r.offer_id = asked.offer_id AND r.expires_at > {now}::timestamptz AND NOT r.direct
    ORDER BY r.posted DESC, r.id
    LIMIT 1
`;

export const FIND_RESERVATION = statement(
  'routing.find_reservation',
  sql`
    SELECT held.*
    FROM (SELECT {caller_number}::bigint AS number, {offer_id}::bigint AS offer_id) asked
    CROSS JOIN LATERAL (${AWAITED_RESERVATION}) held
  `,
  { prepared: true, nullable: ['buyer_group_id', 'traffic_source_id'] },
).returning<
  ReservationColumns & {
    traffic_source_id: number | null;
    token_values: Record<string, unknown>;
  }
>();

export const RESERVED_OFFER = statement(
  'routing.reserved_offer',
  sql`
    SELECT r.offer_id::text AS offer_id
    FROM call_holds r
    WHERE r.company_id = {company_id} AND r.caller_number = {caller_number}::bigint
      AND r.expires_at > {now}::timestamptz AND NOT r.direct AND r.ping_id IS NOT NULL
    ORDER BY r.posted DESC, r.id
    LIMIT 1
  `,
  { prepared: true },
);

export const INSERT_RESERVATION = statement(
  'routing.insert_reservation',
  sql`
    INSERT INTO call_holds (
      company_id, created_at, ping_id, offer_id, caller_number, inbound_webhook_id, remote_ip,
      buyer_ids, buyer_group_id, slots, caps, posted, direct, expires_at
    )
    VALUES (
      {company_id}, {now}::timestamptz, {ping_id}::bigint, {offer_id}::bigint,
      {caller_number}::bigint, {inbound_webhook_id}::bigint, {remote_ip},
      {buyer_ids}::bigint[], {buyer_group_id}::bigint, {slots}::jsonb, {caps}::jsonb,
      {posted}::boolean, {direct}::boolean,
      {expires_at}::timestamptz
    )
  `,
  { prepared: true },
);

/**
 * Marks a ping's reservation as posted and extends it, if it has one of the allowed buyers: at most
 * until the bids of its buyers expire.
 */
export const CONFIRM_RESERVATION = statement(
  'routing.confirm_reservation',
  sql`
    UPDATE call_holds r
    SET posted = true, direct = {direct}::boolean, expires_at = least(
      {expires_at}::timestamptz,
      (
        SELECT min(k.expires_at)
        FROM bids k
        WHERE k.company_id = r.company_id AND k.caller_number = r.caller_number
          AND k.offer_id = r.offer_id AND k.buyer_id = ANY(r.buyer_ids)
      )
    )
    WHERE r.company_id = {company_id} AND r.ping_id = {ping_id}::bigint
      AND r.expires_at > {now}::timestamptz AND r.buyer_ids && {allowed}::bigint[]
    RETURNING ${RESERVATION_COLUMNS}
  `,
  { prepared: true, nullable: ['buyer_group_id'] },
).returning<ReservationColumns>();

export const RELEASE_RESERVATION = statement(
  'routing.release_reservation',
  sql`
    UPDATE call_holds
    SET ping_id = NULL, direct = false, expires_at = least(expires_at, {now}::timestamptz)
    WHERE company_id = {company_id} AND ping_id = {ping_id}::bigint
  `,
  { prepared: true },
);

/** Releases expired holds of all companies (prisma/sql/routing/release_expired_holds.sql). */
export const RELEASE_EXPIRED = statement(
  'routing.release_expired',
  sql`SELECT release_expired_holds({now}::timestamptz, {most}::int) AS n`,
  { prepared: true },
);
