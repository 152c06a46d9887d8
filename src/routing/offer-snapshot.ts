import { isOpenAt } from '../time/opening-hours';
import { minuteOfWeek } from '../time/zone';
import { candidateOf, groupOf, type Candidate, type CandidateGroup } from './engine/eligibility';
import { DISPLAYED, own } from './queries/candidates';
import { template } from '../db/statement';
import type { Statements } from '../db/tenant';
import { readVetoWebhooks, VETOING, type VetoWebhook } from './queries/pre-dial-webhooks';

// What people have set up of the buyers of an offer. It is read once and kept in the process; at every call it is asked whether it has changed, so that no
// change is missed, whoever made it. What calls themselves change is read by offer-standing.ts.

/** Where the buyers of a call come from: an offer, or the number called forwards to one of them. */
export type Source = { offer_id: string } | { buyer_id: string };

/** A change of any of these rows gives it another version; what is added or deleted changes their number. */
const versions = (rows: string) =>
  `(SELECT count(*) || ':' || coalesce(sum(x.xmin::text::bigint), 0) FROM ${rows})`;

const GROUPS = `offer_buyer_groups o WHERE o.company_id = {company_id} AND o.offer_id = {id}::bigint`;
const MEMBERS = `buyer_group_members m JOIN offer_buyer_groups o ON o.company_id = m.company_id AND o.buyer_group_id = m.buyer_group_id WHERE o.company_id = {company_id} AND o.offer_id = {id}::bigint`;
const OF_OFFER = `SELECT o.buyer_id FROM offer_buyers o WHERE o.company_id = {company_id} AND o.offer_id = {id}::bigint UNION SELECT m.buyer_id FROM ${MEMBERS}`;
const OF_BUYER = 'SELECT {id}::bigint AS buyer_id';

const ofBuyers = (buyers: string) => [
  versions(`(${buyers}) o JOIN buyers x ON x.company_id = {company_id} AND x.id = o.buyer_id`),
  versions(
    `(${buyers}) o JOIN buyers b ON b.company_id = {company_id} AND b.id = o.buyer_id JOIN numbers x ON x.company_id = b.company_id AND x.id = b.display_service_number_id`,
  ),
];
const ofWays = [
  versions('offer_buyers x WHERE x.company_id = {company_id} AND x.offer_id = {id}::bigint'),
  versions('offer_buyer_groups x WHERE x.company_id = {company_id} AND x.offer_id = {id}::bigint'),
  versions(
    `(SELECT o.* FROM ${GROUPS}) o JOIN buyer_groups x ON x.company_id = o.company_id AND x.id = o.buyer_group_id`,
  ),
  versions(`(SELECT m.xmin FROM ${MEMBERS}) x`),
];
const versionOf = (parts: string[]) =>
  template(`SELECT concat_ws('/', ${parts.join(',\n')}) AS version`, { prepared: true });
const ofAsked = [versions(VETOING)];
const VERSION = {
  offer_id: versionOf([...ofWays, ...ofBuyers(OF_OFFER), ...ofAsked]),
  buyer_id: versionOf([...ofBuyers(OF_BUYER), ...ofAsked]),
};

const GROUP_ROWS = `coalesce((SELECT json_agg(json_build_object('limit_id', l.id, 'facts', json_build_object(${own('group')}), 'buyer_ids',
        ARRAY(SELECT m.buyer_id FROM buyer_group_members m WHERE m.company_id = t.company_id AND m.buyer_group_id = t.id)) ORDER BY t.id)
      FROM (SELECT o.* FROM ${GROUPS}) o JOIN buyer_groups t ON t.company_id = o.company_id AND t.id = o.buyer_group_id AND t.deleted_at IS NULL
      JOIN call_limits l ON l.company_id = t.company_id AND l.buyer_group_id = t.id), '[]')`;
const DIRECT = `EXISTS (SELECT FROM offer_buyers d WHERE d.company_id = t.company_id AND d.offer_id = {id}::bigint AND d.buyer_id = t.id)`;

const configOf = (buyers: string, groups: string, direct: string) =>
  template(
    `SELECT ${groups} AS groups, coalesce((SELECT json_agg(json_build_object('limit_id', l.id, 'facts', json_build_object(${own('buyer')}, 'direct', ${direct}, 'display_service_number', ${DISPLAYED}),
        'hours', coalesce((SELECT json_agg(x.open_minutes ORDER BY x.position) FROM buyer_business_hours x WHERE x.company_id = t.company_id AND x.buyer_id = t.id), '[]'),
        'conversions', coalesce((SELECT json_agg(json_build_object('frame', x.time_frame, 'open', x.open_minutes, 'revenue', x.revenue, 'type', x.conversion_type, 'duration', x.duration)
          ORDER BY x.time_frame, x.position) FROM buyer_conversions x WHERE x.company_id = t.company_id AND x.buyer_id = t.id), '[]')) ORDER BY t.id)
      FROM (${buyers}) o JOIN buyers t ON t.company_id = {company_id} AND t.id = o.buyer_id AND t.deleted_at IS NULL JOIN call_limits l ON l.company_id = t.company_id AND l.buyer_id = t.id), '[]') AS buyers`,
    { prepared: true },
  );
const CONFIG = {
  offer_id: configOf(OF_OFFER, GROUP_ROWS, DIRECT),
  buyer_id: configOf(OF_BUYER, `'[]'::json`, 'true'),
};

interface GroupRow {
  limit_id: number;
  facts: Omit<CandidateGroup, 'used_up'>;
  buyer_ids: number[];
}
/** What of a buyer stays as it is until somebody changes it. */
type Constant = Omit<
  Candidate,
  'used_up' | 'groups' | 'suppressed_by' | 'business_hours' | 'epc' | 'last_call_at' | Changing
>;
/** What the time of the week decides. */
type Changing = 'current_conversion_revenue' | 'most_revenue' | 'pays_at_dial';
interface BuyerRow {
  limit_id: number;
  facts: Constant;
  hours: number[][];
  conversions: {
    frame: number;
    open: number[];
    revenue: number;
    type: 'duration' | 'postback';
    duration: number;
  }[];
}

/** What is set up of the buyers of a call. */
export interface Config {
  /** How often anything was changed in the company when it was last looked whether this is as it was. */
  changes: string;
  version: string;
  groups: readonly { limit_id: number; group: CandidateGroup }[];
  buyers: readonly (BuyerRow & { groups: CandidateGroup[] })[];
  /** Places of buyers by their rows of caps. */
  places: ReadonlyMap<number, number>;
  /** Rows of caps, as PostgreSQL writes arrays. */
  limit_ids: string;
  /** Who is to be asked before a buyer is dialed. */
  webhooks: readonly VetoWebhook[];
  /** Those that are ranked by what they earned. */
  by_epc: number[];
}

/** Configurations that the process keeps, the one that was read last at the end. */
const kept = new Map<string, Config>();
/** Of buyers in all of them, some kilobytes each. */
const MOST_KEPT = 50_000;

const keyOf = (source: Source) => ('offer_id' in source ? 'offer_id' : 'buyer_id');
const nameOf = (db: Statements, source: Source) => `${db.key}/${JSON.stringify(source)}`;

/** The configuration that was read last, which may have changed since. */
export const keptConfig = (db: Statements, source: Source): Config | undefined =>
  kept.get(nameOf(db, source));

/** The configuration as it was at some time after there had been so many `changes` in the company. */
export async function freshConfig(
  db: Statements,
  source: Source,
  changes: string,
): Promise<Config> {
  const key = keyOf(source);
  const values = { company_id: db.company_id, id: Object.values(source)[0] };
  const name = nameOf(db, source);
  // The version before the rows: a change in between gives them another version than the one that is remembered.
  const [row] = await db.query<{ version: string }>(VERSION[key](values));
  const found = kept.get(name);
  const config =
    found?.version === row!.version
      ? found
      : { ...(await readConfig(db, CONFIG[key](values))), changes, version: row!.version };
  config.changes = changes;
  kept.delete(name);
  kept.set(name, config);
  forgetOldest();
  return config;
}

function forgetOldest(): void {
  let buyers = [...kept.values()].reduce((sum, config) => sum + config.buyers.length + 1, 0);
  for (const [name, config] of kept) {
    if (buyers <= MOST_KEPT || kept.size === 1) return;
    kept.delete(name);
    buyers -= config.buyers.length + 1;
  }
}

async function readConfig(
  db: Statements,
  statement: ReturnType<typeof VERSION.offer_id>,
): Promise<Omit<Config, 'changes' | 'version'>> {
  const [row] = await db.query<{ groups: GroupRow[]; buyers: BuyerRow[] }>(statement);
  const groups_of = new Map<number, CandidateGroup[]>();
  const groups = row!.groups.map(({ limit_id, facts, buyer_ids }) => {
    const group = groupOf(facts, null);
    for (const buyer_id of buyer_ids)
      groups_of.set(buyer_id, [...(groups_of.get(buyer_id) ?? []), group]);
    return { limit_id, group };
  });
  const webhooks = await readVetoWebhooks(db);
  const same = interned();
  // Of a group that is deleted nothing leads to its members.
  const buyers = row!.buyers
    .map(({ facts, hours, ...buyer }) => ({
      ...buyer,
      facts: { ...facts, record_token_filter_list: same(facts.record_token_filter_list) },
      hours: same(hours),
      groups: groups_of.get(facts.id) ?? [],
    }))
    .filter(({ facts, groups: ways }) => facts.direct || ways.length > 0);
  return {
    groups,
    buyers,
    webhooks,
    places: new Map(buyers.map(({ limit_id }, place) => [limit_id, place])),
    limit_ids: `{${[...groups, ...buyers].map(({ limit_id }) => limit_id).join(',')}}`,
    by_epc: buyers.flatMap(({ facts }) => (facts.route_by_type === 'epc' ? [facts.id] : [])),
  };
}

/** What many buyers have in common is one object, so that it is judged once a call. */
function interned(): <Value>(value: Value) => Value {
  const known = new Map<string, unknown>();
  return <Value>(value: Value) => {
    const text = JSON.stringify(value);
    if (!known.has(text)) known.set(text, value);
    return known.get(text) as Value;
  };
}

/** The buyers as they are within a minute with nothing against them; hours open and close at full ones. */
export function plainCandidates({ buyers }: Config, now: Date): Candidate[] {
  return buyers.map(({ facts, hours, conversions, groups }): Candidate => {
    const local = minuteOfWeek(facts.zone, now);
    const open = conversions.filter((conversion) => isOpenAt(conversion.open, local));
    const frame = conversions.filter((conversion) => conversion.frame === open[0]?.frame);
    return candidateOf({
      ...facts,
      business_hours: hours,
      current_conversion_revenue: open[0]?.revenue ?? null,
      most_revenue: Math.max(0, ...frame.map(({ revenue }) => revenue)),
      pays_at_dial: open.some(
        ({ frame: of, type, duration }) =>
          of === open[0]!.frame && type === 'duration' && duration === 0,
      ),
      groups,
      used_up: null,
      last_call_at: null,
      epc: null,
      suppressed_by: NO_LISTS,
    });
  });
}

const NO_LISTS: Candidate['suppressed_by'] = [];
