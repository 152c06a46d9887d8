import { facets, type Operation, type Schema } from '../../src/platform/contract/contract';

// The largest requests that the limits let through, in the shapes that cost most to read.

export interface Shape {
  name: string;
  /** JSON; an object for a form. */
  body?: string | Record<string, string>;
  query?: string;
}

/** Bytes of a body with credentials in the header, and without. */
const BODY_BYTES = { authenticated: 1_048_576, anonymous: 65_536 };
const bytesFor = ({ credentials }: Operation): number =>
  credentials === 'account' ? BODY_BYTES.authenticated : BODY_BYTES.anonymous;

const isForm = ({ media_types }: Operation): boolean => !media_types.includes('application/json');

/** Texts that patterns might backtrack over, that are split, parsed or compared. */
const NASTY = [
  '12:34',
  ' ',
  ',',
  ', ',
  'a:=~(',
  'a:=~.{0,1000}.{0,1000}.{0,1000}',
  '(',
  '+1 (',
  '00:00..',
  '{{',
  '@a.',
  '<',
  '/',
  '"',
];

const buildText = (schema: Schema, piece: string): string => {
  const length = facets(schema).max.length ?? 255;
  return piece.repeat(Math.ceil(length / piece.length)).slice(0, length);
};

/** A long value of a schema, of text alone: every field of it is there. */
function buildLongest(schema: Schema, piece: string, depth = 0): unknown {
  const { types, items, properties, max } = facets(schema);
  if (types.has('array')) {
    const item = items ? buildLongest(items, piece, depth + 1) : piece;
    const most = depth === 0 ? 100 : 5;
    return Array.from({ length: Math.min(max.items ?? most, most) }, () => item);
  }
  if (!types.has('object') || depth > 4) return buildText(schema, piece);
  return Object.fromEntries(
    Object.entries(properties).map(([name, field]) => [
      name,
      buildLongest(field, piece, depth + 1),
    ]),
  );
}

const listSchemas = ({ body }: Operation): [string, Schema][] =>
  Object.entries(body ? facets(body).properties : {});

/** As many of the fields as fit into the body. */
function fitFields(fields: [string, unknown][], bytes: number): string {
  let left = bytes - 2;
  const parts = fields.flatMap(([name, value]) => {
    const part = `${JSON.stringify(name)}:${JSON.stringify(value)}`;
    if (part.length + 1 > left) return [];
    left -= part.length + 1;
    return [part];
  });
  return `{${parts.join(',')}}`;
}

const listArrayFields = (operation: Operation): string[] =>
  listSchemas(operation).flatMap(([name, schema]) =>
    facets(schema).types.has('array') ? name : [],
  );

/** A list of as many values as fit into a body. */
const buildList = (name: string, value: string, bytes: number): string => {
  const head = `{${JSON.stringify(name)}:[${value}`;
  const count = Math.floor((bytes - head.length - 2) / (value.length + 1));
  return `${head}${`,${value}`.repeat(count)}]}`;
};

/** The example, with every list as long as it may be. */
function stretchLists(example: Record<string, unknown>, operation: Operation): [string, unknown][] {
  const properties = operation.body ? facets(operation.body).properties : {};
  return Object.entries(example).map(([name, value]) => {
    const limit = properties[name] && facets(properties[name]).max.items;
    if (!Array.isArray(value) || value.length === 0 || !limit) return [name, value];
    return [name, Array.from({ length: limit }, (_, n) => value[n % value.length] as unknown)];
  });
}

/** Telephone numbers that take longest to read. */
const foreignNumbers = (operation: Operation): Shape[] =>
  listSchemas(operation).flatMap(([name, schema]) => {
    const { items, max } = facets(schema);
    if (!items || !facets(items).formats.has('telephone')) return [];
    const texts = ['+44 20 7946 0', '0'.repeat(80), '\uff11'.repeat(30), 'call me '];
    return texts.map((text) => ({
      name: `${max.items} numbers such as ${text}`,
      body: JSON.stringify({
        [name]: Array.from({ length: max.items! }, (_, n) => `${text}${n % 1_000}`),
      }),
    }));
  });

/** The worst JSON bodies of an operation. */
function jsonShapes(operation: Operation, example: Record<string, unknown>): Shape[] {
  const bytes = bytesFor(operation);
  const schemas = listSchemas(operation);
  const lists = listArrayFields(operation);
  const deep = (name: string, levels: number) => {
    const inside = '{"a":'.repeat(levels);
    return `{${JSON.stringify(name)}:${inside}1${'}'.repeat(levels)}}`;
  };
  const keys = (count: number) =>
    `{${Array.from({ length: count }, (_, n) => `"k${n}":1`).join(',')}}`;
  const [name = 'data'] = schemas.find(([, { type }]) => type === 'object') ?? schemas[0] ?? [];
  return [
    ...NASTY.map((piece) => ({
      name: `the longest texts of ${JSON.stringify(piece)}`,
      body: fitFields(
        schemas.map(([field, schema]) => [field, buildLongest(schema, piece)]),
        bytes,
      ),
    })),
    ...['""', '1', 'null', '{}', '[]', '"x y"'].flatMap((value) =>
      [lists[0] ?? 'nonsense'].map((list) => ({
        name: `a list of ${value}`,
        body: buildList(list, value, bytes),
      })),
    ),
    ...lists.slice(0, 3).map((list) => ({
      name: `${list} of commas`,
      body: JSON.stringify({ [list]: ','.repeat(bytes - list.length - 8) }),
    })),
    ...foreignNumbers(operation),
    { name: 'the longest lists', body: fitFields(stretchLists(example, operation), bytes) },
    { name: 'unknown fields', body: keys(Math.floor(bytes / 12)) },
    { name: 'as many values as are read', body: keys(Math.min(49_000, Math.floor(bytes / 12))) },
    {
      name: 'as many objects as are read',
      body: buildList(lists[0] ?? 'nonsense', '{"a":1}', Math.min(bytes, 190_000)),
    },
    { name: 'as many unknown fields as are read', body: keys(1_000) },
    { name: 'deep objects', body: deep(name, Math.floor(bytes / 7)) },
    { name: 'objects as deep as is read', body: deep(name, 30) },
    { name: 'one long text', body: JSON.stringify({ [name]: '12:34'.repeat(bytes / 6) }) },
  ];
}

/** The worst query strings: as long as a server reads. */
function queryShapes({ parameters, merged, body }: Operation): Shape[] {
  const inQuery = parameters.filter((parameter) => parameter.in === 'query');
  const names = inQuery.map(({ name }) => name);
  if (merged && body) names.push(...Object.keys(facets(body).properties).slice(0, 3));
  const [first = 'nonsense'] = names;
  return [
    ...inQuery.map(({ name, schema }) => ({
      name: `a long ${name}`,
      query: `${name}=${encodeURIComponent(buildText(schema, '12:34 ')).slice(0, 12_000)}`,
    })),
    ...names.map((name) => ({ name: `${name} of commas`, query: `${name}=${','.repeat(12_000)}` })),
    { name: 'repeated keys', query: `${first}=&`.repeat(1_000).slice(0, 12_000) },
    { name: 'deep keys', query: `${first}[0][0][0][0][99]=1&`.repeat(300) },
    { name: 'many keys', query: Array.from({ length: 999 }, (_, n) => `k${n}[a]=1`).join('&') },
  ];
}

/** The worst forms that a carrier, or somebody with its secret, can send. */
const formShapes = (operation: Operation): Shape[] =>
  NASTY.map((piece) => ({
    name: `the longest texts of ${JSON.stringify(piece)}`,
    body: Object.fromEntries(
      listSchemas(operation).map(([name, schema]) => [name, buildText(schema, piece)]),
    ),
  }));

export function worstRequests(
  operation: Operation,
  example: Record<string, unknown> | undefined,
): Shape[] {
  if (!operation.body) return queryShapes(operation);
  const bodies = isForm(operation) ? formShapes(operation) : jsonShapes(operation, example ?? {});
  return [...bodies, ...queryShapes(operation)];
}
