import type { Schemas } from '../../platform/contract/contract';
import { HttpProblem } from '../../platform/errors';
import type { Upload } from '../../api/request/upload';
import { cutText, isLonger } from '../../platform/storable-text';
import { foldCase } from '../../platform/tokens/filter-values';
import { readValues } from './read-file';
import { parseZip } from './zips';

export type Kind = Schemas['ValueListKind'];

const MAX_LENGTH = 255;
const MAX_SHOWN = 5;

/** Values as sent in a request, and the field that contained them. */
export interface ListInput {
  texts: readonly string[];
  /** The line of the file for each value. */
  lines?: readonly number[];
  field: 'values' | 'import_file';
}

/** Undefined when none were sent. */
export async function readListInput(
  { values, column_name }: { values?: readonly string[] | undefined; column_name?: string | null },
  upload: Upload | undefined,
): Promise<ListInput | undefined> {
  if (upload && values !== undefined)
    throw HttpProblem.field('values', 'conflicting_fields', 'must not come with import_file');
  if (upload) return { ...(await readValues(upload, column_name)), field: 'import_file' };
  return values && { texts: values, field: 'values' };
}

/**
 * Values in the form of a list of a kind, without duplicates and blank ones. Throws 422 for a value
 * that the list cannot contain.
 */
export const toListValues = (input: ListInput, kind: Kind): string[] =>
  kind === 'zip_codes' ? parseZips(input) : parseTexts(input);

function parseTexts({ texts, field }: ListInput): string[] {
  const values = [...new Set(texts.map(foldCase))].filter(Boolean);
  const long = values.find((value) => isLonger(value, MAX_LENGTH));
  if (long !== undefined)
    throw HttpProblem.field(
      field,
      'invalid_value',
      `must have values of at most ${MAX_LENGTH} characters; ${cutText(long, 40)}… is longer`,
    );
  return values;
}

function parseZips({ texts, lines, field }: ListInput): string[] {
  const zips = new Set<string>();
  const invalidIndexes: number[] = [];
  texts.forEach((text, n) => {
    const zip = parseZip(text);
    if (zip) zips.add(zip);
    else if (text.trim()) invalidIndexes.push(n);
  });
  if (invalidIndexes.length === 0) return [...zips];
  const shown = invalidIndexes.slice(0, MAX_SHOWN).map((n) => {
    const text = cutText(texts[n]!.trim(), 40);
    return lines ? `${text} in line ${lines[n]}` : text;
  });
  const more =
    invalidIndexes.length > MAX_SHOWN ? ` and ${invalidIndexes.length - MAX_SHOWN} more` : '';
  throw HttpProblem.field(
    field,
    'invalid_value',
    'must have ZIP codes only, such as 90210 or 90210-1234; ' +
      `these are none: ${shown.join(', ')}${more}`,
  );
}
