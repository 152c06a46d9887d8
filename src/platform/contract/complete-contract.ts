import {
  listPlacedOperations,
  readRefName,
  type Content,
  type ContractDocument,
  type Parameter,
  type RawOperation,
  type Schema,
} from './contract-document';
import { Composer } from './example-values';

// Examples of bodies and answers: openapi.yaml has those that teach something, in the schema of a
// body or under components.examples. All others are composed of the examples of properties.

const BASE_PATH = '/api/v1';
const SCHEMAS = '#/components/schemas/';

/** A copy of the contract in which every body and every answer has an example. */
export function addExamples(document: ContractDocument): ContractDocument {
  const complete = structuredClone(document);
  const writer = new ExampleWriter(complete);
  for (const { operation, method } of listPlacedOperations(complete.paths))
    writer.addToOperation(operation, method === 'put');
  return complete;
}

class ExampleWriter {
  private readonly composer: Composer;

  constructor(private readonly document: ContractDocument) {
    this.composer = new Composer(document, listShowPaths(document));
  }

  addToOperation(operation: RawOperation, isChange: boolean): void {
    const { requestBody, parameters = [] } = operation;
    this.addToBody(requestBody?.content ?? {}, isChange);
    for (const parameter of parameters)
      if (parameter.explode) this.addToFields(parameter, { isChange, inBody: !!requestBody });
    for (const [status, { content }] of Object.entries(operation.responses))
      if (status.startsWith('2')) this.addToAnswer((content ?? {}) as Content, Number(status));
    for (const [event, urls] of Object.entries(operation.callbacks ?? {}))
      for (const { post } of Object.values(urls)) this.addToEvent(post.requestBody.content, event);
  }

  private addToBody(content: Content, isChange: boolean): void {
    for (const media of listBare(content)) {
      const name = readRefName(media.schema.$ref!);
      const { examples } = this.document.components.schemas[name]!;
      const [usual, second] = examples ?? [this.composeBody(name, isChange)];
      media.examples = { usual: this.write(name, usual) };
      if (second !== undefined) media.examples.other = this.write(`${name}Other`, second);
    }
  }

  /** Where there is a body too, the query string has no fields unless a reader wants them. */
  private addToFields(
    parameter: Parameter,
    { isChange, inBody }: { isChange: boolean; inBody: boolean },
  ): void {
    const name = readRefName(parameter.schema.$ref!);
    const usual = this.write(name, this.composeBody(name, isChange));
    parameter.examples = inBody ? { none: this.write('NoFields', {}), usual } : { usual };
  }

  /** A change sends another text than the record has. */
  private composeBody(name: string, isChange: boolean): Record<string, unknown> {
    const body = this.composer.composeRequest(name);
    if (!isChange) return body;
    return Object.fromEntries(
      Object.entries(body).map(([field, value]) => [
        field,
        typeof value === 'string' ? `${value} 2` : value,
      ]),
    );
  }

  private addToAnswer(content: Content, status: number): void {
    for (const media of listBare(content)) {
      const name = readRefName(media.schema.$ref!);
      const value = this.composer.compose(name);
      if (isRecord(value) && typeof value.status === 'number') value.status = status;
      nameRoot(value, this.document.components.schemas[name]!);
      media.examples = { usual: this.write(status === 200 ? name : name + status, value) };
    }
  }

  private addToEvent(content: Content, event: string): void {
    for (const media of listBare(content)) {
      const value = this.composer.compose(readRefName(media.schema.$ref!));
      if (isRecord(value) && 'type' in value) value.type = event;
      media.examples = { event: this.write(`${event}_event`, value) };
    }
  }

  private write(name: string, value: unknown): { $ref: string } {
    this.document.components.examples[name] ??= { value };
    return { $ref: `#/components/examples/${name}` };
  }
}

type Media = Content[string];
const listBare = (content: Content): Media[] =>
  Object.values(content).filter(({ schema, examples }) => !examples && schema.$ref);

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const ENVELOPE = new Set(['status', 'success', 'errors', 'checksum', 'metadata']);

/** `metadata.root` is the name of the property that has the record or the rows. */
function nameRoot(value: unknown, { properties = {} }: Schema): void {
  if (!isRecord(value) || !isRecord(value.metadata) || !('root' in value.metadata)) return;
  const root = Object.keys(properties).find((name) => !ENVELOPE.has(name));
  value.metadata = { ...value.metadata, root };
}

/** The path of the record with the id 1, by the name of its schema. */
function listShowPaths({ paths, components }: ContractDocument): Map<string, string> {
  const entries = Object.entries(paths).flatMap(([path, { get }]): [string, string][] => {
    if (!get || !/^\/\w+\/\{id\}$/.test(path)) return [];
    const media = get.responses['200']?.content?.['application/json'] as Media | undefined;
    const reply = media?.schema.$ref && components.schemas[readRefName(media.schema.$ref)];
    const records = Object.values((reply && reply.properties) || {}).flatMap(({ $ref }) =>
      $ref?.startsWith(SCHEMAS) ? [readRefName($ref)] : [],
    );
    return records.map((name) => [name, BASE_PATH + path.replace('{id}', '1')]);
  });
  // ZIP lists are value lists: the first path counts.
  return new Map(entries.toReversed());
}
