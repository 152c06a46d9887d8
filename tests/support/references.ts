import { facets, type Operation, type Schema } from '../../src/platform/contract/contract';

/** A field of a body that names a record. */
export interface ReferenceField {
  operation: Operation;
  field: string;
  /** A table, or a table and a column: `buyers.user_buyer_id`. */
  target: string;
  list: boolean;
  /** The other fields that make it a reference to that table. */
  along: Record<string, string>;
}

export const listProperties = (operation: Operation): Record<string, Schema> =>
  operation.body ? facets(operation.body).properties : {};

/** The fields of an operation's body that name records, by the contract. */
export const listReferences = (operation: Operation): ReferenceField[] =>
  Object.entries(listProperties(operation)).flatMap(([field, schema]) => {
    const { 'x-reference': target, 'x-reference-by': by } = schema;
    const common = { operation, field, list: facets(schema).types.has('array') };
    if (target) return [{ ...common, target, along: {} }];
    return Object.entries(by?.tables ?? {}).map(([type, table]) => ({
      ...common,
      target: table,
      along: { [by!.field]: type },
    }));
  });
