import {
  listPlacedOperations,
  type ContractDocument,
  type RawOperation,
  type Schema,
} from '../src/platform/contract/contract-document';

// The contract with the standard keywords that it hides from SDK generators as x-… keywords, for
// tools that check answers against it.

/** Returns the contract with x-const, x-values and x-answers as the keywords they stand for. */
export function toExactContract(document: ContractDocument): ContractDocument {
  const copy = JSON.parse(JSON.stringify(document), (_, node: unknown) =>
    typeof node === 'object' && node !== null && !Array.isArray(node) ? exactSchema(node) : node,
  ) as ContractDocument;
  for (const { operation } of listPlacedOperations(copy.paths)) addOtherAnswers(copy, operation);
  return copy;
}

function exactSchema(node: Schema): Schema {
  const { 'x-const': constant, 'x-values': values } = node;
  return {
    ...node,
    ...(constant !== undefined && { const: constant }),
    ...(values !== undefined && { additionalProperties: values }),
  };
}

function addOtherAnswers(document: ContractDocument, operation: RawOperation): void {
  const content = operation.responses['200']?.content;
  for (const parameter of operation.parameters ?? []) {
    const { 'x-answers': answers = {} } = resolve(document, parameter);
    for (const { media_type, rows } of Object.values(answers)) {
      const declared = content?.[media_type] as { schema: Schema } | undefined;
      if (rows)
        declared!.schema = {
          anyOf: [declared!.schema, findListReference(document, declared!.schema)],
        };
      else content![media_type] = { schema: { type: 'string' } };
    }
  }
}

/** References the list within a page. */
export function findListReference(document: ContractDocument, page: Schema): { $ref: string } {
  const { properties = {} } = resolve<Schema>(document, page);
  const [name] = Object.entries(properties).find(([, { type }]) => type === 'array') ?? [];
  if (name === undefined || !page.$ref) throw new Error(`${page.$ref} is no page of a list`);
  return { $ref: `${page.$ref}/properties/${name}` };
}

function resolve<T extends { $ref?: string }>(document: ContractDocument, node: T): T {
  const names = node.$ref?.slice(2).split('/') ?? [];
  return names.length === 0
    ? node
    : (names.reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], document) as T);
}
