import {
  buildVisibleCondition,
  buildBuyerCondition,
  buildGroupCondition,
} from '../../../data/access/scope';
import { buildMoneyJoin } from '../../../data/access/money';
import { sql, SqlText } from '../../../data/sql';
import { TOTAL_DURATION } from '../columns';

// Sums of calls by up to three keys. The first key of a group is `id_1` or `text_1`, and so on; the
// other column is null. Like the other reports, the statements are planned for their values: they
// read no column and no table that is not asked for, and of the calls the index calls_reported_idx
// alone where it has all of their columns (docs/decisions/026-reports-from-an-index.md).

const VISIBLE_CALL = new SqlText(buildVisibleCondition('calls')!);
const VISIBLE_BUYER = new SqlText(buildBuyerCondition('t.buyer_id'));
const VISIBLE_GROUP = new SqlText(buildGroupCondition('t.buyer_group_id'));
/** Visibility of revenue and payout of a call `t` for a caller with a limited access scope. */
const SIDES = new SqlText(buildMoneyJoin('calls'));
const DURATION = new SqlText(TOTAL_DURATION);
const IS_UNLIMITED = sql`{scope_teams}::bigint[] IS NULL`;

const NUMBER = sql`CASE WHEN t.direction = 'inbound' THEN t.to_number ELSE t.from_number END`;

export type KeyPosition = 1 | 2 | 3;

export const groupedBy = (n: KeyPosition): SqlText => new SqlText(`({group_by}::text[])[${n}]`);

/**
 * Columns of the key at a position. A local time is the index of its period among the beginnings of
 * local-times.ts, or the label that several periods share.
 */
const buildKeyColumns = (n: KeyPosition): SqlText => {
  const by = groupedBy(n);
  const [id, text] = [new SqlText(`id_${n}`), new SqlText(`text_${n}`)];
  const labels = new SqlText(`{labels_${n}}`);
  const bucket = new SqlText(`width_bucket(t.created_at, {bounds_${n}}::timestamptz[])`);
  return sql`
        CASE ${by}
          WHEN 'buyer' THEN t.buyer_id
          WHEN 'buyer_group' THEN
            CASE WHEN ${IS_UNLIMITED} OR ${VISIBLE_GROUP} THEN t.buyer_group_id END
          WHEN 'offer' THEN t.offer_id
          WHEN 'schedule' THEN t.schedule_id
          WHEN 'traffic_source' THEN t.traffic_source_id
          WHEN 'number' THEN ${NUMBER}
          WHEN 'sub_id' THEN NULL
          WHEN 'state' THEN NULL
          WHEN 'token' THEN NULL
          WHEN {period}::text THEN NULL
          WHEN 'hour_of_day' THEN (${labels}::bigint[])[${bucket}]
          WHEN 'day_of_week' THEN (${labels}::bigint[])[${bucket}]
          ELSE ${bucket}
        END AS ${id},
        CASE ${by}
          WHEN 'sub_id' THEN t.sub_id
          WHEN 'state' THEN t.caller_state
          WHEN 'token' THEN t.token_values->>{token_key}::text
        END AS ${text}`;
};

/** Most calls have no dollars, and adding up zeros would take as long. */
const REVENUE = sql`coalesce(
          sum(t.revenue) FILTER (WHERE t.revenue <> 0 AND (${IS_UNLIMITED} OR sides.sale)), 0.00
        )`;
const PAYOUT = sql`coalesce(
          sum(t.payout) FILTER (WHERE t.payout <> 0 AND (${IS_UNLIMITED} OR sides.purchase)), 0.00
        )`;

/** The calls of a report; `period` is another condition. */
export const buildSelection = (period: SqlText): SqlText => sql`
      FROM calls t
      ${SIDES}
      WHERE t.company_id = {company_id}
        AND t.deleted_at IS NULL
        AND ({created_at_from}::timestamptz IS NULL
          OR t.created_at >= {created_at_from}::timestamptz)
        AND ({created_at_to}::timestamptz IS NULL
          OR t.created_at <= {created_at_to}::timestamptz)
        ${period}
        AND ({offer_id}::bigint IS NULL OR t.offer_id = {offer_id}::bigint)
        AND ({buyer_id}::bigint IS NULL OR t.buyer_id = {buyer_id}::bigint)
        AND ({traffic_source_id}::bigint IS NULL
          OR t.traffic_source_id = {traffic_source_id}::bigint)
        AND ({call_category}::text IS NULL OR t.direction = {call_category}::text)
        AND (${IS_UNLIMITED} OR ${VISIBLE_CALL})
        AND (
          ${IS_UNLIMITED}
          OR {buyer_id}::bigint IS NULL
            AND NOT {group_by}::text[] && ARRAY['buyer', 'buyer_group']
          OR ${VISIBLE_BUYER}
        )
        AND (
          ${IS_UNLIMITED}
          OR {traffic_source_id}::bigint IS NULL
            AND NOT {group_by}::text[] && ARRAY['traffic_source', 'sub_id']
          OR sides.purchase
        )`;

/** Figures of each group. A caller who may see all gets the profit from the sums. */
const buildSums = (period: SqlText): SqlText => sql`
      SELECT
        ${buildKeyColumns(1)},
        ${buildKeyColumns(2)},
        ${buildKeyColumns(3)},
        count(*) AS calls,
        count(t.connected_at) AS connects,
        count(*) FILTER (WHERE t.buyer_converted AND (${IS_UNLIMITED} OR sides.sale))
          AS conversions,
        count(*) FILTER (WHERE t.traffic_source_converted AND (${IS_UNLIMITED} OR sides.purchase))
          AS traffic_source_conversions,
        ${REVENUE} AS revenue,
        ${PAYOUT} AS payout,
        CASE
          WHEN ${IS_UNLIMITED} THEN ${REVENUE} - ${PAYOUT}
          ELSE
            coalesce(sum(t.revenue - t.payout) FILTER (WHERE sides.sale AND sides.purchase), 0)
        END AS profit,
        sum(${DURATION}) AS duration
${buildSelection(period)}
      GROUP BY id_1, text_1, id_2, text_2, id_3, text_3`;

export const GROUPED_SUMS = sql`
    sums AS MATERIALIZED (${buildSums(sql``)}
    )`;

const buildPeriodKey = (n: KeyPosition): SqlText => {
  const id = new SqlText(`id_${n}`);
  return sql`CASE WHEN ${groupedBy(n)} = {period}::text THEN period.n ELSE f.${id} END AS ${id}`;
};

/**
 * Sums of period after period, each from its own part of the index. That takes two thirds of the
 * time: no call is looked up among the periods, and the groups of one fit into the cache of a
 * processor.
 */
export const GROUPED_SUMS_OF_PERIODS = sql`
    sums AS MATERIALIZED (
      SELECT
        ${buildPeriodKey(1)}, f.text_1,
        ${buildPeriodKey(2)}, f.text_2,
        ${buildPeriodKey(3)}, f.text_3,
        f.calls, f.connects, f.conversions, f.traffic_source_conversions, f.revenue, f.payout,
        f.profit, f.duration
      FROM unnest({periods}::timestamptz[], ({periods}::timestamptz[])[2:])
        WITH ORDINALITY period (begins_at, ends_at, n)
      CROSS JOIN LATERAL (
        ${buildSums(sql`AND t.created_at >= period.begins_at
        AND t.created_at < coalesce(period.ends_at, 'infinity')`)}
      ) f
    )`;
