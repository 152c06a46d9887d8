import {
  listPlacedOperations,
  readRefName,
  type Content,
  type ContractDocument,
  type RawOperation,
  type Schema,
} from './contract-document';

// Schemas that follow from that of a record: the answer with one record, a page of them, and the
// body of a change. openapi.yaml has those that differ from what stands here.

const REFERENCE = '#/components/schemas/';
const reference = (name: string): Schema => ({ $ref: REFERENCE + name }) as Schema;

/** Adds the schemas `…Reply`, `…Page` and `…Update` that are referred to, and stated nowhere. */
export function addEnvelopes({ components, paths }: ContractDocument): void {
  const named = new Set(
    listPlacedOperations(paths).flatMap(({ operation }) => listSchemaNames(operation)),
  );
  const { schemas } = components;
  const buildMissing = (name: string) =>
    Object.entries(BUILDERS).flatMap(([kind, build]): [string, Schema][] =>
      named.has(name + kind) && !schemas[name + kind] ? [[name + kind, build(name)]] : [],
    );
  components.schemas = Object.fromEntries(
    Object.entries(schemas).flatMap(([name, schema]) => [[name, schema], ...buildMissing(name)]),
  );
}

/** The named schemas of the bodies that an operation takes and answers with. */
function listSchemaNames({ requestBody, responses }: RawOperation): string[] {
  const contents = [
    requestBody?.content,
    ...Object.values(responses).map(({ content }) => content),
  ];
  return contents
    .flatMap((content) => Object.values((content ?? {}) as Content))
    .flatMap(({ schema }) => (schema.$ref ? [readRefName(schema.$ref)] : []));
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
export const toPlural = (noun: string): string => noun + (/(s|ch)$/.test(noun) ? 'es' : 's');
