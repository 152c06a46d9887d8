import { contract, facets, type Operation } from '../contract';
import type { Parameter, Schema, Side } from '../contract-document';
import {
  isAlwaysHidden,
  seesSide,
  seesSideOf,
  visibleSides,
  type VisibleSides,
} from '../db/access-scope';
import type { Db } from '../db/tenant';
import { fault, HttpProblem, type FieldFaults } from '../errors';
import { recordsInPath, tableOfPath } from './access-scope';

// Columns with x-side are hidden from limited callers who do not see that side of the record: the
// payments of buyers, or those to traffic sources. Costs of the company itself are hidden from all
// of them. Such callers cannot filter or sort records by them either: that would reveal the values.

type Sent = Record<string, unknown>;

/** Throws 422 with every parameter by which a limited caller would learn of a hidden side. */
export async function requireVisibleSides(
  db: Db,
  operation: Operation,
  query: Sent,
): Promise<void> {
  if (!db.accessScope || operation.method !== 'get') return;
  const used = operation.parameters.flatMap((parameter) => {
    const sides = sidesOf(parameter, operation, query[parameter.name]);
    return sides.map((side) => ({ name: parameter.name, side }));
  });
  if (used.length === 0) return;
  const visible = await visibleSides(db);
  const faults: FieldFaults = {};
  for (const { name, side } of used)
    if (!seesSide(visible, side))
      faults[name] = [fault('beyond_your_rights', `is about ${hiddenOf(visible, side)}`)];
  const problem = HttpProblem.fields(faults);
  if (problem) throw problem;
}

/**
 * Throws 422 for fields of a body about a side of the record of the path that a limited caller does
 * not see: the difference between refused and accepted values would reveal the stored ones.
 */
export async function requireWritableSides(
  db: Db,
  { path, body: schema }: Operation,
  { params, body }: { params: Sent; body: unknown },
): Promise<void> {
  const [record] = db.accessScope && schema ? recordsInPath(path, params) : [];
  if (!record || typeof body !== 'object' || body === null) return;
  const { properties } = facets(schema!);
  const seen = new Map<Side, boolean>();
  const faults: FieldFaults = {};
  for (const [name, value] of Object.entries(body)) {
    const side = properties[name]?.['x-side'];
    if (!side || side === 'both' || side === 'company' || value === null) continue;
    if (!seen.has(side)) seen.set(side, await seesSideOf(db, record, side));
    if (!seen.get(side)) faults[name] = [fault('beyond_your_rights', `is about ${WORDS[side]}`)];
  }
  const problem = HttpProblem.fields(faults);
  if (problem) throw problem;
}

const HIDDEN = ', which is hidden from you: your teams are granted nothing that shows it';
const WORDS = {
  sale: `what buyers pay${HIDDEN}`,
  purchase: `what traffic sources are paid${HIDDEN}`,
};

const hiddenOf = (visible: VisibleSides, side: Side): string =>
  WORDS[side === 'sale' || !visible.sale ? 'sale' : 'purchase'];

/** The sides that a parameter is about; for a list, those of each of its values. */
function sidesOf(parameter: Parameter, operation: Operation, value: unknown): Side[] {
  if (value === undefined) return [];
  const sides = [value].flat().map((each) => {
    if (parameter.name === 'order') return sideOfColumn(operation, String(each));
    return parameter['x-side'] ?? parameter['x-side-by']?.[String(each)];
  });
  return [...new Set(sides.filter((side) => side !== undefined))];
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
  const columns = recordOf(responses[String(status)])?.properties ?? {};
  const blank = Object.entries(body).flatMap(([name, value]) => {
    const side = columns[name]?.['x-side'];
    return value === null && side ? [{ name, side }] : [];
  });
  if (blank.length === 0) return body;
  const visible = await visibleSides(db);
  const table = tableOfPath(path);
  const hidden = new Set(
    blank.flatMap(({ name, side }) =>
      isAlwaysHidden(table, side) || !seesSide(visible, side) ? name : [],
    ),
  );
  return Object.fromEntries(Object.entries(body).filter(([name]) => !hidden.has(name))) as Body;
}

function recordOf(response: Operation['responses'][string] | undefined): Schema | undefined {
  const content = response?.content as Record<string, { schema?: Schema }> | undefined;
  const schema = content?.['application/json']?.schema;
  if (!schema) return undefined;
  const parts = Object.values(contract.resolve(schema).properties ?? {});
  return parts
    .map((part) => contract.resolve(part))
    .find(({ properties = {} }) => Object.values(properties).some((each) => each['x-side']));
}

/** The order by a counter of caps is named after their table. */
const columnOf = (order: string) => order.replace(/^call_limits\./, '');

const sideOfColumn = (operation: Operation, order: string): Side | undefined =>
  rowsOf(operation)?.schema.properties?.[columnOf(order)]?.['x-side'];

function rowsOf({ responses }: Operation): { name: string; schema: Schema } | undefined {
  const content = responses['200']?.content as Record<string, { schema?: Schema }> | undefined;
  const page = content?.['application/json']?.schema;
  if (!page) return undefined;
  const { properties = {} } = contract.resolve(page);
  const rows = Object.values(properties).find(({ type, items }) => type === 'array' && items?.$ref);
  const name = rows?.items?.$ref?.split('/').at(-1);
  return name === undefined ? undefined : { name, schema: contract.resolve(rows!.items!) };
}

let sides_of_lists: Map<string, Map<string, Side>> | undefined;

export function sidesOfFilters(schema: string): ReadonlyMap<string, Side> {
  sides_of_lists ??= new Map(
    contract.operations.flatMap((operation) => {
      const name = rowsOf(operation)?.name;
      const sides = operation.parameters.flatMap((parameter): [string, Side][] =>
        parameter['x-side'] ? [[parameter.name, parameter['x-side']]] : [],
      );
      return name && sides.length > 0 ? [[name, new Map(sides)] as const] : [];
    }),
  );
  return sides_of_lists.get(schema) ?? NO_SIDES;
}

const NO_SIDES: ReadonlyMap<string, Side> = new Map();
