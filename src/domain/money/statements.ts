import type { Schemas } from '../../platform/contract/contract';
import { safeCell } from '../../data/projection/projection-sql';
import { identify, toWhere } from '../../data/records';
import type { Deps } from '../deps';
import { notFound, HttpProblem } from '../../platform/errors';
import type { Call, Handlers } from '../../api/handlers';
import { keyedList } from '../../api/records/list';
import { noun } from '../../api/records/noun';
import { loadWriteReply } from '../../api/records/record';
import { ianaName } from '../../platform/time/zone';
import { INSERT_STATEMENT } from './queries/statements';
import type { Db } from '../../data/db';
import { findAccount } from './find-account';

const statement = noun({
  schema: 'Statement',
  singular: 'statement',
  plural: 'statements',
  verbs: ['list', 'show'],
  appendOnly: true,
  search: ['external_record_id'],
});
const { projection } = statement;

export const statements = (deps: Deps) =>
  ({
    ...statement.handlers(deps),

    createStatement: async ({ body, db }) => {
      const now = deps.clock();
      const id = await db.transaction((tx) => drawUpStatement(tx, body, now));
      return loadWriteReply({ db, now, projection }, id, { status: 201 });
    },

    listStatementLines,
  }) satisfies Partial<Handlers>;

const LINES = `(
  SELECT
    e.company_id, e.id, e.created_at, e.kind, e.amount, e.call_id, e.note,
    s.opening_balance + sum(e.amount) OVER entered AS balance,
    row_number() OVER entered AS n
  FROM statements s
  JOIN account_entries e
    ON e.company_id = s.company_id
    AND (e.buyer_id = s.buyer_id OR e.traffic_source_id = s.traffic_source_id)
    AND e.created_at >= s.period_from AND e.created_at < s.period_to
  WHERE s.company_id = {company_id} AND s.id = {statement}::bigint
  WINDOW entered AS (ORDER BY e.created_at, e.id)
)`;

const COUNT = `(
  SELECT entries_count FROM statements
  WHERE company_id = {company_id} AND id = {statement}::bigint)`;

const OFFER = `(
  SELECT o.name
  FROM calls c
  JOIN offers o ON o.company_id = c.company_id AND o.id = c.offer_id
  WHERE c.company_id = t.company_id AND c.id = t.call_id
)`;

const LINE = {
  id: 't.id',
  at: `iso_local(t.created_at, {zone})`,
  kind: 't.kind',
  amount: 't.amount',
  balance: 't.balance',
  call_id: 't.call_id',
  call_uuid: `(SELECT c.uuid FROM calls c WHERE c.company_id = t.company_id AND c.id = t.call_id)`,
  offer: OFFER,
  note: 't.note',
};

const ITEM = `json_build_object(${Object.entries(LINE)
  .map(([name, sql]) => `'${name}', ${sql}`)
  .join(', ')})`;

const CELLS = { ...LINE, offer: safeCell(OFFER), note: safeCell('t.note') };

async function listStatementLines({ params, query, db }: Call<'listStatementLines'>) {
  const identifier = identify(params.id);
  const row = identifier && (await db.prisma.statement.findFirst({ where: toWhere(identifier) }));
  if (!row) throw notFound();
  return keyedList<Schemas['StatementLinePage']>(query, {
    db,
    root: 'lines',
    table: LINES,
    key: 'n',
    conditions: [],
    values: { statement: String(row.id), zone: ianaName(row.time_zone) },
    total: COUNT,
    item: ITEM,
    cells: CELLS,
  });
}

/** Time after the end of a period until all its entries are committed. */
const SETTLED_AFTER_MS = 60_000;

async function drawUpStatement(
  db: Db,
  { buyer_id, traffic_source_id, time_zone, external_record_id, ...period }: Fields,
  now: Date,
): Promise<bigint> {
  const from = new Date(period.from);
  const to = new Date(period.to);
  if (from >= to) throw HttpProblem.field('to', 'invalid_value', 'must be after from');
  if (to.getTime() > now.getTime() - SETTLED_AFTER_MS)
    throw HttpProblem.field(
      'to',
      'invalid_value',
      'must be at least a minute ago: later entries may still be missing',
    );
  const account = await findAccount(db, { buyer_id, traffic_source_id });
  const [row] = await db.sql(INSERT_STATEMENT, {
    ...account,
    from,
    to,
    time_zone: time_zone ?? 'UTC',
    external_record_id: external_record_id ?? null,
    now,
  });
  return BigInt(row!.id);
}

type Fields = Schemas['StatementCreate'];
