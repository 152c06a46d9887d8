import {
  contract,
  listPlacedOperations,
  type Parameter,
  type Schema,
} from '../platform/contract/contract';
import type {
  ConsoleContract,
  FieldContract,
  Fields,
  FieldType,
  NounContract,
  OperationContract,
  Verb,
} from './noun-contract';

// The contract as the forms and tables of the console read it. It is taken from the contract of
// the running server, so that the two cannot disagree.

/** Deeper objects are for structured editors, which know their shape. */
const MAX_DEPTH = 4;

type PlacedOperation = ReturnType<typeof listPlacedOperations>[number];

/** Describes every noun that the API lists, by the name of its path. */
export function describeNouns(): ConsoleContract {
  const operations = new Map(
    listPlacedOperations(contract.document.paths).map((placed) => [
      `${placed.method} ${placed.path}`,
      placed,
    ]),
  );
  const nouns = [...operations.values()].flatMap((list) => {
    const name = list.path.slice(1);
    const many = list.method === 'get' && !/[/{]/.test(name) && findList(list);
    return many ? [[name, describeNoun(name, many, operations)] as const] : [];
  });
  const single = [...operations.values()].flatMap((show) => {
    const update = show.method === 'get' && operations.get(`put ${show.path}`);
    return update && !show.path.includes('{')
      ? [[show.path.slice(1), describeSingle(show, update)] as const]
      : [];
  });
  return { nouns: Object.fromEntries([...nouns, ...single]) };
}

/** A record that exists once, as the company does. */
function describeSingle(show: PlacedOperation, update: PlacedOperation): NounContract {
  const key = findKey(show)!;
  const row = findAnswer(show).properties![key]!;
  return {
    record_key: key,
    list_key: '',
    verbs: { show: describeOperation(show), update: describeOperation(update) },
    read: describeFields(row, MAX_DEPTH - 1, false),
    write: describeBody(update),
    filters: {},
    orders: [],
    serializers: [],
  };
}

function describeNoun(
  name: string,
  { key: listKey, row }: { key: string; row: Schema },
  operations: ReadonlyMap<string, PlacedOperation>,
): NounContract {
  const path = `/${name}`;
  const placed: Partial<Record<Verb, PlacedOperation | undefined>> = {
    list: operations.get(`get ${path}`),
    show: operations.get(`get ${path}/{id}`),
    new: operations.get(`get ${path}/new`),
    create: operations.get(`post ${path}`),
    update: operations.get(`put ${path}/{id}`) ?? operations.get(`post ${path}/{id}`),
    delete: operations.get(`delete ${path}/{id}`),
  };
  const verbs = Object.entries(placed).flatMap(([verb, operation]) =>
    operation ? [[verb, describeOperation(operation)] as const] : [],
  );
  const parameters = listParameters(placed.list!);
  const { serializer, order, format, ...filters } = Object.fromEntries(
    parameters
      .filter((parameter) => !PAGING.has(parameter.name))
      .map((parameter) => [parameter.name, describeField(toSchema(parameter), 1)]),
  );
  return {
    record_key: (placed.show && findKey(placed.show)) ?? listKey.replace(/s$/, ''),
    list_key: listKey,
    verbs: Object.fromEntries(verbs),
    read: describeFields(row, MAX_DEPTH - 1, false),
    write: mergeBodies(describeBody(placed.create), describeBody(placed.update)),
    filters,
    orders: order?.enum ?? [],
    serializers: serializer?.enum ?? [],
    ...(format && { csv: true as const }),
  };
}

/** Parameters that the tables of the console set. */
const PAGING: ReadonlySet<string> = new Set([
  'page',
  'per_page',
  'cursor',
  'columns',
  'root',
  'stale_ok',
  'order_dir',
  'ids',
]);

const describeOperation = ({ operation }: PlacedOperation): OperationContract => ({
  ...(operation['x-scope'] && { scope: operation['x-scope'] }),
  ...(operation['x-unlimited'] && { unlimited: true as const }),
  ...(operation['x-company-wide'] && { company_wide: true as const }),
});

/** The parameters of the query, also those that one parameter groups. */
function listParameters({ operation }: PlacedOperation): Parameter[] {
  const parameters = (operation.parameters ?? []).map((parameter) => contract.resolve(parameter));
  return parameters
    .filter((parameter) => parameter.in === 'query')
    .flatMap((parameter) => {
      if (!parameter.explode) return [parameter];
      const { properties = {} } = flatten(parameter.schema);
      return Object.entries(properties).map(([name, schema]): Parameter => ({
        name,
        in: 'query',
        schema,
      }));
    });
}

const toSchema = ({ schema, description, 'x-money': money }: Parameter): Schema => ({
  ...(description !== undefined && { description }),
  ...(money && { 'x-money': money }),
  ...contract.resolve(schema),
});

function describeBody(placed: PlacedOperation | undefined): Fields {
  const content = placed?.operation.requestBody?.content ?? {};
  const body = content['application/json'] ?? content['multipart/form-data'];
  return body ? describeFields(body.schema, MAX_DEPTH, true) : {};
}

/** One description for both bodies: a field that only one of them has says so. */
function mergeBodies(create: Fields, update: Fields): Fields {
  const marked = (fields: Fields, others: Fields, only: 'create' | 'update') =>
    Object.entries(fields).map(([name, field]): [string, FieldContract] =>
      name in others || Object.keys(others).length === 0
        ? [name, field]
        : [name, { ...field, only }],
    );
  return Object.fromEntries([
    ...marked(update, create, 'update'),
    ...marked(create, update, 'create'),
  ]);
}

function describeFields(schema: Schema, depth: number, withHelp: boolean): Fields {
  const { properties = {}, required = [] } = flatten(schema);
  return Object.fromEntries(
    Object.entries(properties).map(([name, property]) => {
      const field = describeField(property, depth, withHelp);
      return [name, required.includes(name) && withHelp ? { ...field, required: true } : field];
    }),
  );
}

/** Numbers are named otherwise in the path of their operations. */
const toNounName = (table: string | undefined): string | undefined =>
  table === 'numbers' ? 'phone_numbers' : table;

/** Permissions to write a field. A cap is lowered without: the API says how far. */
function listPermissions(plain: Schema): string[] | undefined {
  const permission = plain['x-field-permission'];
  return permission && !plain['x-lowerable'] ? [permission].flat() : undefined;
}

function describeField(schema: Schema, depth: number, withHelp = true): FieldContract {
  const plain = flatten(schema);
  const types = [plain.type ?? []].flat();
  const type = toFieldType(types.find((name) => name !== 'null'));
  const { additionalProperties: values } = plain;
  const help = withHelp ? firstSentence(plain.description) : undefined;
  const isNested = depth > 0;
  return compact({
    type,
    nullable: types.includes('null') || undefined,
    enum: plain.enum?.filter((value): value is string => typeof value === 'string'),
    minimum: plain.minimum,
    maximum: plain['maximum'],
    min_length: plain.minLength,
    max_length: plain.maxLength,
    max_items: plain.maxItems,
    pattern: plain.pattern,
    format: pickFormat(plain),
    reference: toNounName(plain['x-reference']),
    permissions: listPermissions(plain),
    money: plain['x-money'],
    superuser: plain['x-superuser'],
    secret: plain['x-secret'],
    default: plain['x-default'],
    items: isNested && plain.items ? describeField(plain.items, depth - 1, withHelp) : undefined,
    fields: isNested && plain.properties ? describeFields(plain, depth - 1, withHelp) : undefined,
    values:
      isNested && typeof values === 'object'
        ? describeField(values, depth - 1, withHelp)
        : undefined,
    help,
  });
}

/** A format of the contract, except that for the end of a period, which is a time like others. */
function pickFormat({ format, 'x-format': own }: Schema): string | undefined {
  if (own !== undefined && own !== 'last-moment') return own;
  return format === 'int64' ? undefined : format;
}

const toFieldType = (type: string | undefined): FieldType => {
  if (type === 'string') return 'text';
  return type === undefined || type === 'null' ? 'any' : (type as FieldType);
};

/** Without the keys that say nothing, which would be half of the document. */
const compact = (field: Record<keyof FieldContract, unknown> | object): FieldContract =>
  Object.fromEntries(
    Object.entries(field).filter(([, value]) => value !== undefined && value !== false),
  ) as unknown as FieldContract;

/** The schema with its references resolved and its parts merged; a null among them is a type. */
function flatten(schema: Schema): Schema & { required?: string[]; maximum?: number } {
  const { allOf = [], oneOf = [], anyOf = [], ...stated } = contract.resolve(schema);
  const choices = [...oneOf, ...anyOf].map((choice) => contract.resolve(choice));
  const isNullable = choices.some(({ type }) => type === 'null');
  const [choice] = choices.filter(({ type }) => type !== 'null');
  const parts = [...allOf, ...(choice ? [choice] : [])].map(flatten);
  const merged = Object.assign({}, ...parts, stated) as Schema;
  const properties = Object.assign(
    {},
    ...parts.map((part) => part.properties),
    stated.properties,
  ) as Record<string, Schema>;
  const types = [merged.type ?? []].flat();
  return {
    ...merged,
    ...(Object.keys(properties).length > 0 && { properties }),
    required: [...parts, stated].flatMap(({ required }) => required ?? []),
    ...(isNullable && { type: [...types, 'null'] }),
  };
}

/** The list in the answer of an operation: its key and the schema of its rows. */
function findList(placed: PlacedOperation): { key: string; row: Schema } | undefined {
  const { properties = {} } = findAnswer(placed);
  if (!('metadata' in properties)) return undefined;
  for (const [key, property] of Object.entries(properties)) {
    const { items } = contract.resolve(property);
    if (items) return { key, row: items };
  }
  return undefined;
}

const STATUS_KEYS = ['status', 'success', 'errors', 'metadata', 'warnings'];

const findKey = (placed: PlacedOperation): string | undefined =>
  Object.keys(findAnswer(placed).properties ?? {}).find((key) => !STATUS_KEYS.includes(key));

function findAnswer({ operation }: PlacedOperation): Schema {
  const code = Object.keys(operation.responses).find((status) => status.startsWith('2'));
  const response = contract.resolve(operation.responses[code ?? '200'] ?? {});
  const content = response.content as Record<string, { schema: Schema }> | undefined;
  return flatten(content?.['application/json']?.schema ?? {});
}

/** People choose records by their names: a sentence about ids is not for them. */
const ABOUT_IDS = /^Ids?,? (?:or )?(?:uuids? )?(?:or `\w+` )?of [^.]*\.\s*/;

const firstSentence = (text: string | undefined): string | undefined =>
  /^.*?[.:;](?= |$)/s.exec(text?.replace(ABOUT_IDS, '') ?? '')?.[0].replace(/[:;]$/, '.');
