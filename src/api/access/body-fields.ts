import { contract, facets, type Schema } from '../../platform/contract/contract';

/** Enough for every body of the contract. */
const MAX_DEPTH = 6;

interface BodyField {
  /** With the fields that it is in: `actions.0.url`. */
  field: string;
  property: Schema;
  value: unknown;
  siblings: object;
}

/**
 * Reads the fields of a body that its schema declares, at any depth. Where `read` returns nothing,
 * the fields within the field are read.
 */
export function readBodyFields<T>(
  schema: Schema,
  body: unknown,
  read: (field: BodyField) => T[] | undefined,
  { prefix, depth } = { prefix: '', depth: 0 },
): T[] {
  if (typeof body !== 'object' || body === null || depth > MAX_DEPTH) return [];
  const { items, properties } = facets(schema);
  const readInner = (inner: Schema, value: unknown, name: string | number) =>
    readBodyFields(inner, value, read, { prefix: `${prefix}${name}.`, depth: depth + 1 });
  if (Array.isArray(body)) return items ? body.flatMap((item, n) => readInner(items, item, n)) : [];
  return Object.entries(body).flatMap(([name, value]) => {
    const property = properties[name];
    if (!property) return [];
    const field = { field: prefix + name, property, value, siblings: body };
    return read(field) ?? readInner(property, value, name);
  });
}

/** A field in which a buyer's own team reports what the buyer pays. */
export const isReport = ({ property, value }: Pick<BodyField, 'property' | 'value'>): boolean =>
  value === true && contract.resolve(property)['x-buyer-reports'] === true;
