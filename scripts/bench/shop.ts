import { query, type BenchWorld } from './world';

/** An offer with schedules that send a text message immediately and then wait a day. */
export interface Shop {
  company_id: string;
  offer_id: string;
  schedules: { id: string; lead_token: string }[];
}

/** Areas with assigned numbers: a submission with any other number is refused. */
const AREAS = [
  201, 202, 205, 206, 212, 213, 214, 215, 216, 303, 305, 310, 312, 313, 314, 315, 402, 404, 405,
  406, 407, 408, 410, 412, 501, 502, 503, 504, 505, 507, 508, 510, 512, 513, 515, 601, 602, 603,
  605, 606, 607, 608, 609, 610, 612, 614, 701, 702, 703, 704, 706, 707, 708, 712, 713, 714, 715,
  716, 801, 802, 803, 804, 805, 806, 808, 810, 812, 813, 814, 815, 901, 903, 904, 906, 907, 908,
  909, 910, 912, 913,
];
/** Exchanges 200 to 975 of each area; calls to 976 cost extra, so that it is not contacted. */
const EXCHANGES = 776;
const NUMBERS_OF_AREA = EXCHANGES * 10_000;
const NUMBERS = AREAS.length * NUMBERS_OF_AREA;

/**
 * Returns the n-th North American telephone number in an order that looks random, without repeats.
 * Exact for the first three million.
 */
export function phoneNumber(n: number): number {
  const k = (n * 2_654_435_761) % NUMBERS;
  return (
    10_000_000_000 +
    AREAS[Math.floor(k / NUMBERS_OF_AREA)]! * 10_000_000 +
    (200 + (Math.floor(k / 10_000) % EXCHANGES)) * 10_000 +
    (k % 10_000)
  );
}

/** `phoneNumber` in SQL, for any n. */
const buildNumberSql = (k: string) =>
  `10000000000 + ('{${AREAS.join(',')}}'::bigint[])[1 + ${k} / ${NUMBERS_OF_AREA}] * 10000000 + ` +
  `(200 + ${k} / 10000 % ${EXCHANGES}) * 10000 + ${k} % 10000`;

/** Creates a shop with its own number. Its schedules contact leads at any hour. */
export async function openShop({ url, company_id }: BenchWorld, schedules: number): Promise<Shop> {
  const insert = async (text: string, values: unknown[]) =>
    (await query(url, `${text} RETURNING *`, [company_id, ...values])) as {
      id: string;
      lead_token: string;
    }[];
  const token = `md5(random()::text)`;
  await insert(
    `INSERT INTO numbers (company_id, uuid, phone_number, country, carrier)
      VALUES ($1, uuidv7(), $2, 'US', 'sandbox')`,
    [12125550100],
  );
  const [offer] = await insert(
    `INSERT INTO offers (company_id, uuid, name, time_zone, lead_token)
      VALUES ($1, uuidv7(), 'Auto insurance', 'America/New_York', ${token})`,
    [],
  );
  const rows = await insert(
    `INSERT INTO schedules (company_id, uuid, name, offer_id, time_zone, daylight_hours,
      business_hours, lead_token)
     SELECT $1, uuidv7(), 'Schedule ' || i, $2, 'America/New_York', '00:00..23:59', '[]',
       md5(random()::text || i)
     FROM generate_series(1, $3::int) i`,
    [offer!.id, schedules],
  );
  await query(
    url,
    `INSERT INTO lead_tokens (token, company_id, schedule_id)
      SELECT lead_token, company_id, id
      FROM schedules
      WHERE company_id = $1`,
    [company_id],
  );
  await query(
    url,
    `INSERT INTO schedule_actions (company_id, uuid, schedule_id, action_type, position, body,
      wait_amount, wait_unit)
     SELECT $1, uuidv7(), s.id, a.*
     FROM schedules s, (VALUES ('sms', 1, 'Hello {{first_name}}, your quote for {{city}} is ready.',
       NULL, NULL), ('wait', 2, NULL, 1, 'days')) a
     WHERE s.company_id = $1`,
    [company_id],
  );
  return { company_id, offer_id: offer!.id, schedules: rows };
}

export interface Filling {
  schedule_id: string;
  /** The first lead has the number phoneNumber(first). */
  first: number;
  count: number;
  /** SQL for the time the lead is due; n is the number of the lead. */
  due_at: string;
  /** SQL for its priority, also with n. */
  lead_priority?: string;
}

export async function fillLeads(
  { url }: BenchWorld,
  { company_id, offer_id }: Shop,
  filling: Filling,
): Promise<void> {
  const { schedule_id, first, count, due_at, lead_priority = 'NULL' } = filling;
  await query(
    url,
    `WITH made AS (INSERT INTO leads (company_id, uuid, user_updated_at, caller_number, email, zones, offer_id,
      schedule_id, status, data, remote_ip, first_queued_at, entered_at, next_action_at, due_at,
      lead_priority)
     SELECT $1, uuidv7(), now(), ${buildNumberSql('k')}, 'ann.' || n || '@example.com',
       '{America/New_York}', $2, $3, 'scheduled',
       jsonb_build_object('first_name', 'Ann' || n % 977, 'last_name', 'Lee' || n % 991, 'city',
         'Springfield', 'state', 'NY', 'zip', lpad((n % 99999)::text, 5, '0'), 'address', n ||
         ' Main Street',
         'vehicle_year', (1990 + n % 35)::text, 'source', 'page-' || n % 100),
       '127.0.0.1', now(), now(), due_at, due_at, ${lead_priority}
     FROM (SELECT n, n * 2654435761 % ${NUMBERS} AS k, ${due_at} AS due_at FROM
       generate_series($4::bigint, $4::bigint + $5::bigint - 1) n) x
     RETURNING company_id, due_at, callback_at, next_action_at)
     INSERT INTO next_action_counts (company_id, hour, n)
     SELECT company_id, next_action_hour(due_at, callback_at, next_action_at), count(*)
     FROM made
     WHERE next_action_hour(due_at, callback_at, next_action_at) IS NOT NULL
     GROUP BY 1, 2`,
    [company_id, offer_id, schedule_id, first, count],
  );
  await query(
    url,
    `INSERT INTO record_counts (company_id, resource, slot, n)
      VALUES ($1, 'leads', 0, $2)
      ON CONFLICT (company_id, resource, slot)
      DO UPDATE SET n = record_counts.n + excluded.n`,
    [company_id, count],
  );
}

/** Inserts the contact records that the numbers of all leads have after a first contact. */
export async function fillContacts({ url, company_id }: BenchWorld): Promise<void> {
  await query(
    url,
    `WITH made AS (INSERT INTO contacts (company_id, uuid, caller_number) SELECT company_id,
      uuidv7(), caller_number FROM leads WHERE company_id = $1 RETURNING 1)
     INSERT INTO record_counts (company_id, resource, slot, n)
     SELECT $1, 'contacts', 0, count(*)
     FROM made`,
    [company_id],
  );
}
