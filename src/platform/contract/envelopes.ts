import { listPlacedOperations, readRefName } from './contract-document';
import type { ContractDocument, Schema } from './contract-document';

// Schemas that follow from that of a record: the answer with one record, a page of them, and the
// body of a change. openapi.yaml has those that differ from what stands here.

const REFERENCE = '#/components/schemas/';
const reference = (name: string): Schema => ({ $ref: REFERENCE + name }) as Schema;

/** Adds the schemas `…Reply`, `…Page` and `…Update` that operations refer to, and nothing states. */
export function addEnvelopes({ components, paths }: ContractDocument): void {
  const named = new Set<string>();
  for (const { operation } of listPlacedOperations(paths))
    for (const { content = {} } of [operation.requestBody, ...Object.values(operation.responses)]
      .filter((part) => part !== undefined)
      .map((part) => part as { content?: Record<string, { schema: Schema }> }))
      for (const { schema } of Object.values(content))
        if (schema.$ref) named.add(readRefName(schema.$ref));
  const { schemas } = components;
  components.schemas = Object.fromEntries(
    Object.entries(schemas).flatMap(([name, schema]) => [
      [name, schema],
      ...Object.entries(BUILDERS)
        .map(([kind, build]) => [name + kind, build] as const)
        .filter(([envelope]) => named.has(envelope) && !schemas[envelope])
        .map(([envelope, build]) => [envelope, build(name)] as [string, Schema]),
    ]),
  );
}

const BUILDERS: Record<string, (name: string) => Schema> = {
  Update: (name) => ({
    allOf: [
      reference(`${name}Fields`),
      { description: 'What is omitted stays as it is.' } as Schema,
    ],
    unevaluatedProperties: false,
  }),
  Reply: (name) => ({
    allOf: [reference('RecordAnswer')],
    required: [toSnake(name)],
    properties: {
      [toSnake(name)]: {
        ...reference(name),
        description: `The ${toWords(name)}, as it is after the request.`,
      },
      checksum: reference('Checksum'),
    },
  }),
  Page: (name) => ({
    allOf: [reference('PageAnswer')],
    required: [toPlural(toSnake(name))],
    properties: {
      [toPlural(toSnake(name))]: {
        type: 'array',
        items: reference(name),
        description: `The ${toPlural(toWords(name))} on this page.`,
      },
    },
  }),
};

const split = (name: string): string[] => name.split(/(?=[A-Z])/).map((word) => word.toLowerCase());
const toSnake = (name: string): string => split(name).join('_');
const toWords = (name: string): string => split(name).join(' ');
const toPlural = (noun: string): string => noun + (/(s|ch)$/.test(noun) ? 'es' : 's');
