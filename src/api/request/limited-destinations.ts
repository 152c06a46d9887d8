import { facets, type Operation, type Schema } from '../../platform/contract/contract';
import type { Db } from '../../data/db';
import { fault, HttpProblem, type FieldFaults } from '../../platform/errors';

// The company pays for calls: users who are limited to records of teams may only send them to
// allowed destinations. Every field of a body with the format call-destination is checked.

/**
 * Loads the destinations that a company allows. The test returns why a destination is refused, as
 * the end of a sentence that begins with the destination.
 */
export type LoadDestinationTest = (db: Db) => Promise<(destination: string) => string | undefined>;

/** Enough for every body of the contract. */
const MAX_DEPTH = 4;

/** Throws 422 with every destination of a body that limited users must not name. */
export async function requireOwnDestinations(
  db: Db,
  { body: schema, scope }: Pick<Operation, 'body' | 'scope'>,
  { body, loadTest }: { body: unknown; loadTest: LoadDestinationTest },
): Promise<void> {
  // A simulation only supposes other values.
  if (!schema || scope?.endsWith(':read')) return;
  const destinations = collectDestinations(schema, body);
  if (destinations.length === 0) return;
  const findFault = await loadTest(db);
  const faults: FieldFaults = Object.create(null);
  for (const { field, destination } of destinations) {
    const refusal = findFault(destination);
    if (refusal === undefined) continue;
    const why = 'your access is limited to the records of your teams';
    faults[field] = [
      fault('beyond_your_rights', `must not be ${destination}: it ${refusal}, and ${why}`),
    ];
  }
  const problem = HttpProblem.fields(faults);
  if (problem) throw problem;
}

interface Destination {
  field: string;
  destination: string;
}

/** The destinations that a value has, at any depth; blank ones lead nowhere. */
function collectDestinations(schema: Schema, value: unknown, field = '', depth = 0): Destination[] {
  if (depth > MAX_DEPTH) return [];
  const { formats, items, properties } = facets(schema);
  if (typeof value === 'string')
    return value !== '' && formats.has('call-destination') ? [{ field, destination: value }] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const part = Array.isArray(value) ? items : properties[name];
    return part
      ? collectDestinations(part, inner, field ? `${field}.${name}` : name, depth + 1)
      : [];
  });
}
