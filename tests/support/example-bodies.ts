import {
  completeDocument,
  facets,
  readRefName,
  type Operation,
} from '../../src/platform/contract/contract';
import type { Company } from './world';

// Bodies of requests: the contract's own examples, with references to records of a fixture.

export const findExample = (name: string): Record<string, unknown> =>
  completeDocument().components.examples[name]?.value as Record<string, unknown>;

/** Resources whose table has another name. */
const TABLES: Record<string, string> = {
  phone_numbers: 'numbers',
  call_sessions: 'calls',
  zip_lists: 'value_lists',
};

/** The resource of an operation: the first part of its path. */
export const readResource = ({ path }: Operation): string => path.split('/')[3]!;

/** The table of an operation's records. */
export const findTable = (operation: Operation): string =>
  TABLES[readResource(operation)] ?? readResource(operation);

/** The contract's example of an operation's body. */
function buildBody(operation: Operation): Record<string, unknown> | undefined {
  const ref = operation.body?.$ref;
  return ref ? structuredClone(findExample(readRefName(ref))) : undefined;
}

/** The contract's example of a body with a file; a list is created with the same file. */
export function buildForm(operation: Operation): Record<string, string | Buffer> {
  const { import_file, ...fields } = findExample('BuyerSuppressionFileUpload') as Record<
    string,
    string
  >;
  const { properties } = facets(operation.multipart!);
  const form = Object.entries({ ...fields, column_name: 'phone' }).filter(
    ([name]) => name in properties,
  );
  return { ...Object.fromEntries(form), import_file: Buffer.from(import_file!) };
}

/** A body that is a file itself, for an operation that takes one. */
export const buildAudio = ({ takes_bare_file }: Operation) =>
  takes_bare_file
    ? {
        body: Buffer.from('RIFF\0\0\0\0WAVEfmt '),
        headers: { 'Content-Type': 'audio/wav' },
      }
    : undefined;

export const hasFile = ({ multipart }: Operation): boolean =>
  multipart !== undefined && 'import_file' in facets(multipart).properties;

/** Digits of a number that only this company has. */
export const buildNumber = ({ id }: Company) =>
  `1213555${String(Number(id) % 100).padStart(2, '0')}00`;
/** The address of an inbound webhook that only this company has. */
export const buildVanityUri = ({ id }: Company) => `auto-partner-${id}`;

/** An example whose references name records of the fixture, and what is unique is the company's. */
export function exampleBody(
  operation: Operation,
  ids: Record<string, number>,
  company: Company,
): Record<string, unknown> | undefined {
  const body = buildBody(operation);
  if (!body) return undefined;
  const properties = operation.body ? facets(operation.body).properties : {};
  for (const [field, schema] of Object.entries(properties)) {
    const by = schema['x-reference-by'];
    const target = schema['x-reference'] ?? by?.tables[String(body[by.field])];
    if (target && /^\d+$/.test(String(body[field]))) body[field] = String(ids[target]);
  }
  const number = `+${buildNumber(company)}`;
  if ('vanity_uri' in body) body.vanity_uri = buildVanityUri(company);
  if (operation.own_number && operation.own_number in body) body[operation.own_number] = number;
  if (operation.id === 'receiveTextMessage') body.to = number;
  return body;
}
