import { contract, facets, type Operation } from '../../platform/contract/contract';
import type { Parameter, Schema, MoneyVisibility } from '../../platform/contract/contract-document';
import {
  isAlwaysHidden,
  canSeeColumn,
  canSeeMoney,
  loadVisibleMoney,
} from '../../data/access/money';
import { type Db, type VisibleMoney } from '../../data/db';
import { fault, HttpProblem, type FieldFaults } from '../../platform/errors';
import { recordsInPath, tableOfPath } from './visible-references';

// Columns with x-money are hidden from limited callers who do not see that part of the margin: the
// payments of buyers, or those to traffic sources. Costs and notes of the company itself are hidden
// from all of them. Such callers cannot filter or sort records by them either: that would reveal
// the values.

type Values = Record<string, unknown>;

/** Throws 422 with every parameter by which a limited caller would learn of hidden money. */
export async function requireVisibleMoney(
  db: Db,
  operation: Operation,
  query: Values,
): Promise<void> {
  if (!db.accessScope || operation.method !== 'get') return;
  const used = operation.parameters.flatMap((parameter) => {
    const visibilities = listVisibilities(parameter, operation, query[parameter.name]);
    return visibilities.map((visibility) => ({ name: parameter.name, visibility }));
  });
  if (used.length === 0) return;
  const visible = await loadVisibleMoney(db);
  const faults: FieldFaults = {};
  for (const { name, visibility } of used)
    if (!canSeeColumn(visible, visibility))
      faults[name] = [
        fault('beyond_your_rights', `is about ${describeHidden(visible, visibility)}`),
      ];
  const problem = HttpProblem.fields(faults);
  if (problem) throw problem;
}

/**
 * Throws 422 for fields of a body about money of the record of the path that a limited caller does
 * not see: the difference between refused and accepted values would reveal the stored ones. Notes
 * of the company are refused for new records too.
 */
export async function requireWritableMoney(
  db: Db,
  { path, body: schema }: Operation,
  { params, body }: { params: Values; body: unknown },
): Promise<void> {
  if (!db.accessScope || !schema || typeof body !== 'object' || body === null) return;
  const [record] = recordsInPath(path, params);
  const { properties } = facets(schema);
  const isVisibleBy = new Map<MoneyVisibility, boolean>();
  const faults: FieldFaults = {};
  for (const [name, value] of Object.entries(body)) {
    const property = properties[name];
    const visibility = property && contract.resolve(property)['x-money'];
    if (!visibility || visibility === 'both' || value === null) continue;
    if (visibility === 'company') {
      faults[name] = [fault('beyond_your_rights', NOTE)];
      continue;
    }
    if (!record) continue;
    if (!isVisibleBy.has(visibility))
      isVisibleBy.set(visibility, await canSeeMoney(db, record, visibility));
    if (!isVisibleBy.get(visibility))
      faults[name] = [fault('beyond_your_rights', `is about ${WORDS[visibility]}`)];
  }
  const problem = HttpProblem.fields(faults);
  if (problem) throw problem;
}

const NOTE = 'is a note of the company, which users of a team neither see nor write; leave it out';
const HIDDEN = ', which is hidden from you: your teams are granted nothing that shows it';
const WORDS = {
  sale: `what buyers pay${HIDDEN}`,
  purchase: `what traffic sources are paid${HIDDEN}`,
};

const describeHidden = (visible: VisibleMoney, visibility: MoneyVisibility): string =>
  WORDS[visibility === 'sale' || !visible.sale ? 'sale' : 'purchase'];

/** The money that a parameter is about; for a list, that of each of its values. */
function listVisibilities(
  parameter: Parameter,
  operation: Operation,
  value: unknown,
): MoneyVisibility[] {
  if (value === undefined) return [];
  const visibilities = [value].flat().map((item) => {
    if (parameter.name === 'order') return findColumnVisibility(operation, String(item));
    return parameter['x-money'] ?? parameter['x-money-by']?.[String(item)];
  });
  return [...new Set(visibilities.filter((visibility) => visibility !== undefined))];
}

/**
 * The body of a write without the hidden columns that are null, which is how a limited caller has
 * read them: they stay unchanged.
 */
export async function withoutHidden<Body>(
  db: Db,
  { path, responses, status }: Operation,
  body: Body,
): Promise<Body> {
  if (!db.accessScope || typeof body !== 'object' || body === null) return body;
  const columns = facets(findRecordSchema(responses[String(status)]) ?? {}).properties;
  const blank = Object.entries(body).flatMap(([name, value]) => {
    const visibility = columns[name]?.['x-money'];
    return value === null && visibility ? [{ name, visibility }] : [];
  });
  if (blank.length === 0) return body;
  const visible = await loadVisibleMoney(db);
  const table = tableOfPath(path);
  const hidden = new Set(
    blank.flatMap(({ name, visibility }) =>
      isAlwaysHidden(table, visibility) || !canSeeColumn(visible, visibility) ? name : [],
    ),
  );
  return Object.fromEntries(Object.entries(body).filter(([name]) => !hidden.has(name))) as Body;
}

function findRecordSchema(
  response: Operation['responses'][string] | undefined,
): Schema | undefined {
  const content = response?.content as Record<string, { schema?: Schema }> | undefined;
  const schema = content?.['application/json']?.schema;
  if (!schema) return undefined;
  return Object.values(facets(schema).properties).find((part) =>
    Object.values(facets(part).properties).some((property) => property['x-money']),
  );
}

/** The order by a counter of caps is named after their table. */
const toColumn = (order: string) => order.replace(/^call_limits\./, '');

const findColumnVisibility = (operation: Operation, order: string): MoneyVisibility | undefined =>
  facets(findRowSchema(operation)?.schema ?? {}).properties[toColumn(order)]?.['x-money'];

function findRowSchema({ responses }: Operation): { name: string; schema: Schema } | undefined {
  const content = responses['200']?.content as Record<string, { schema?: Schema }> | undefined;
  const page = content?.['application/json']?.schema;
  if (!page) return undefined;
  const { properties = {} } = contract.resolve(page);
  const rows = Object.values(properties).find(({ type, items }) => type === 'array' && items?.$ref);
  const name = rows?.items?.$ref?.split('/').at(-1);
  return name === undefined ? undefined : { name, schema: contract.resolve(rows!.items!) };
}

let visibilityByList: Map<string, Map<string, MoneyVisibility>> | undefined;

export function listMoneyOfFilters(schema: string): ReadonlyMap<string, MoneyVisibility> {
  visibilityByList ??= new Map(
    contract.operations.flatMap((operation) => {
      const name = findRowSchema(operation)?.name;
      const visibilities = operation.parameters.flatMap((parameter): [string, MoneyVisibility][] =>
        parameter['x-money'] ? [[parameter.name, parameter['x-money']]] : [],
      );
      return name && visibilities.length > 0 ? [[name, new Map(visibilities)] as const] : [];
    }),
  );
  return visibilityByList.get(schema) ?? NOTHING;
}

const NOTHING: ReadonlyMap<string, MoneyVisibility> = new Map();
