import { acceptedDocument } from '../../platform/contract/accepted-contract';
import { contract, type Parameter, type Schema } from '../../platform/contract/contract';
import { OPERATIONS, ORDERED_TAGS, type ListedOperation, type PageOperation } from './tags';

/** The index that the search of the pages reads (assets/docs/search.js). */
export interface SearchIndex {
  /** Name and description of parameters and fields; operations refer to them by position. */
  fields: [name: string, description: string][];
  operations: {
    id: string;
    method: string;
    path: string;
    summary: string;
    description: string;
    tag: string;
    title: string;
    anchor: string;
    fields: number[];
  }[];
}

type FieldDescriptions = Map<string, string>;

function collect(
  schema: Schema | undefined,
  descriptions: FieldDescriptions,
  seenReferences: Set<string>,
): void {
  if (!schema || typeof schema !== 'object') return;
  if (schema.$ref) {
    if (seenReferences.has(schema.$ref)) return;
    seenReferences.add(schema.$ref);
  }
  const plain = contract.resolve(schema);
  for (const [name, property] of Object.entries(plain.properties ?? {})) {
    const description = property.description ?? contract.resolve(property).description ?? '';
    descriptions.set(name, descriptions.get(name) || description);
    collect(property, descriptions, seenReferences);
  }
  collect(plain.items, descriptions, seenReferences);
  if (typeof plain.additionalProperties === 'object')
    collect(plain.additionalProperties, descriptions, seenReferences);
  const parts = [...(plain.allOf ?? []), ...(plain.oneOf ?? []), ...(plain.anyOf ?? [])];
  for (const part of parts) collect(part, descriptions, seenReferences);
}

interface Body {
  $ref?: string;
  content?: Record<string, { schema?: Schema }>;
}
type DescribedOperation = PageOperation & {
  parameters?: (Parameter & { description?: string })[];
  requestBody?: Body;
  responses: Record<string, Body>;
};

function listFields({ path, method, is_event, operation }: ListedOperation): FieldDescriptions {
  const accepted = is_event ? operation : acceptedDocument().paths[path]![method];
  const { parameters = [], requestBody, responses } = accepted as DescribedOperation;
  const descriptions: FieldDescriptions = new Map();
  const seenReferences = new Set<string>();
  for (const parameter of parameters) {
    const { name, description = '', schema } = contract.resolve(parameter);
    descriptions.set(name, description);
    collect(schema, descriptions, seenReferences);
  }
  const success = Object.entries(responses).filter(([status]) => status.startsWith('2'));
  for (const body of [requestBody, ...success.map(([, response]) => response)]) {
    for (const { schema } of Object.values(body ? (contract.resolve(body).content ?? {}) : {}))
      collect(schema, descriptions, seenReferences);
  }
  return descriptions;
}

export function searchIndex(): SearchIndex {
  const fields: SearchIndex['fields'] = [];
  const positions = new Map<string, number>();
  const indexField = (name: string, description: string): number => {
    const key = JSON.stringify([name, description]);
    const existingPosition = positions.get(key);
    if (existingPosition !== undefined) return existingPosition;
    positions.set(key, fields.length);
    return fields.push([name, description]) - 1;
  };
  const titles = new Map(ORDERED_TAGS.map(({ name, title }) => [name, title]));
  const tagRanks = new Map(ORDERED_TAGS.map(({ name }, at) => [name, at]));
  const ordered = [...OPERATIONS].sort(
    (a, b) => (tagRanks.get(a.operation.tags[0]!) ?? 0) - (tagRanks.get(b.operation.tags[0]!) ?? 0),
  );
  const operations = ordered.map((listed) => {
    const { id, method, path, anchor, operation, is_event } = listed;
    const tag = operation.tags[0]!;
    return {
      id,
      method: is_event ? 'event' : method,
      path,
      summary: operation.summary ?? id,
      description: operation.description ?? '',
      tag,
      title: titles.get(tag) ?? tag,
      anchor,
      fields: [...listFields(listed)].map(([name, text]) => indexField(name, text)),
    };
  });
  return { fields, operations };
}
