import type { Queue } from '../../jobs/queue';
import { replaceAttached } from '../../db/attachments';
import type { Db } from '../../db/tenant';
import { inviteUsers, usersWith } from './users';
import { moveCount } from '../../db/counters';

/** What a change of teams takes besides the database. */
export interface TeamContext {
  queue: Queue;
  now: Date;
}

/** Puts exactly these addresses into a locked team. Who comes new and has no token of this company is invited. */
export async function replaceUsers(
  db: Db,
  team: bigint,
  addresses: readonly string[],
  { queue, now }: TeamContext,
): Promise<void> {
  const ids = await usersWith(db, addresses, now);
  const strangers = await db.query<{ id: string }>({
    text: `SELECT u.id::text FROM unnest($2::bigint[]) AS u(id) WHERE NOT EXISTS (SELECT FROM access_tokens a WHERE a.company_id = $1 AND a.user_id = u.id AND a.deleted_at IS NULL)
      AND NOT EXISTS (SELECT FROM access_control_list_users m WHERE m.company_id = $1 AND m.access_control_list_id = $3 AND m.user_id = u.id)`,
    values: [db.company_id, ids, team],
  });
  await replaceAttached(
    db,
    'access_control_list_users',
    { access_control_list_id: team },
    { user_id: ids },
  );
  await inviteUsers(
    db,
    strangers.map(({ id }) => BigInt(id)),
    { queue, now },
  );
}

/** Grants a team exactly these offers. What its buyers paid for is seen at those alone, or at any when there are none. */
export async function replaceOffers(
  db: Db,
  team: bigint,
  offers: readonly bigint[],
  all_offers = offers.length === 0,
): Promise<void> {
  await replaceAttached(
    db,
    'access_control_list_offers',
    { access_control_list_id: team },
    { offer_id: offers },
  );
  await db.query({
    text: 'UPDATE access_control_lists SET all_offers = $3 WHERE company_id = $1 AND id = $2',
    values: [db.company_id, team, all_offers],
  });
}

/** Gives the teams of a locked group an offer, or takes it from them. */
export async function moveOffer(
  db: Db,
  buyer_group_id: bigint,
  offer_id: bigint,
  verb: 'grant' | 'revoke',
): Promise<void> {
  const teams =
    'SELECT g.access_control_list_id FROM access_control_list_buyer_groups g WHERE g.company_id = $1 AND g.buyer_group_id = $2';
  const locked = await db.query<{ id: string }>({
    text: `SELECT id::text FROM access_control_lists WHERE company_id = $1 AND id IN (${teams}) ORDER BY id FOR UPDATE`,
    values: [db.company_id, buyer_group_id],
  });
  const ids = locked.map(({ id }) => id);
  if (verb === 'revoke') {
    const text =
      'DELETE FROM access_control_list_offers WHERE company_id = $1 AND offer_id = $2 AND access_control_list_id = ANY($3::bigint[])';
    await db.query({ text, values: [db.company_id, offer_id, ids] });
    return;
  }
  await db.query({
    text: `INSERT INTO access_control_list_offers (company_id, access_control_list_id, offer_id) SELECT $1, team, $2 FROM unnest($3::bigint[]) team ON CONFLICT DO NOTHING`,
    values: [db.company_id, offer_id, ids],
  });
  await db.query({
    text: 'UPDATE access_control_lists SET all_offers = false WHERE company_id = $1 AND id = ANY($2::bigint[])',
    values: [db.company_id, ids],
  });
}

/** A record that a team can be generated for. */
export interface TeamRecord {
  kind: 'buyer' | 'buyer_group';
  id: bigint;
}

/** What the team that is generated for a record may do. */
export const GENERATED = {
  buyer: ['buyers:read', 'buyers:update', 'calls:read'],
  buyer_group: [
    'buyer_groups:read',
    'buyer_groups:update',
    'buyers:read',
    'buyers:update',
    'calls:read',
  ],
};

/** The team that was generated for a locked record, locked; made when there is none. */
export async function generatedTeam(db: Db, { kind, id }: TeamRecord, now: Date): Promise<bigint> {
  const [found] = await db.query<{ id: string }>({
    text: `SELECT id::text FROM access_control_lists WHERE company_id = $1 AND generated_for_${kind}_id = $2 AND deleted_at IS NULL FOR UPDATE`,
    values: [db.company_id, id],
  });
  if (found) return BigInt(found.id);
  const [named] = await db.query<{ name: string | null }>({
    text: `SELECT name FROM ${kind}s WHERE company_id = $1 AND id = $2`,
    values: [db.company_id, id],
  });
  const { company_id } = db;
  const name = `${named?.name || `${kind === 'buyer' ? 'Buyer' : 'Group'} ${id}`} team`;
  const data = {
    company_id,
    name,
    permissions: GENERATED[kind],
    [`generated_for_${kind}_id`]: id,
    created_at: now,
    updated_at: now,
    user_updated_at: now,
  };
  const team = await db.prisma.accessControlList.create({ data, select: { id: true } });
  await moveCount(db, 'access_control_lists', 1);
  await replaceAttached(
    db,
    `access_control_list_${kind}s`,
    { access_control_list_id: team.id },
    { [`${kind}_id`]: [id] },
  );
  return team.id;
}

/** Takes a record that is deleted from all teams, and ends the one that was generated for it. */
export async function leaveTeams(
  db: Db,
  { kind, id }: { kind: TeamRecord['kind'] | 'offer'; id: bigint },
  now: Date,
): Promise<void> {
  const leave = () =>
    db.query({
      text: `DELETE FROM access_control_list_${kind}s WHERE company_id = $1 AND ${kind}_id = $2`,
      values: [db.company_id, id],
    });
  if (kind === 'offer') return void (await leave());
  const ended = await db.query<{ id: string }>({
    text: `UPDATE access_control_lists SET deleted_at = $3, updated_at = $3 WHERE company_id = $1 AND generated_for_${kind}_id = $2 AND deleted_at IS NULL RETURNING id::text`,
    values: [db.company_id, id, now.toISOString()],
  });
  await leave();
  for (const team of ended) await emptyTeam(db, BigInt(team.id));
  if (ended.length > 0) await moveCount(db, 'access_control_lists', -ended.length);
}

/** Takes everybody and everything from a team. */
export async function emptyTeam(db: Db, team: bigint): Promise<void> {
  for (const kind of ['users', 'buyers', 'buyer_groups', 'offers'])
    await db.query({
      text: `DELETE FROM access_control_list_${kind} WHERE company_id = $1 AND access_control_list_id = $2`,
      values: [db.company_id, team],
    });
}
