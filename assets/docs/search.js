// Search in the operations of the contract: paths, summaries, descriptions, and the names and
// descriptions of parameters and fields. Swagger UI and the reference find the same.

let index;
/** Loads what is searched (src/api/docs/search-index.ts), once. */
export function loadIndex() {
  index ??= fetch('/api/docs/search.json').then((response) => response.json());
  return index;
}

/** The words for the number of operations found. */
export const countText = (count) => `${count} ${count === 1 ? 'operation' : 'operations'}`;

const plain = (text) =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();

const IGNORED = new Set([
  'a',
  'an',
  'and',
  'by',
  'for',
  'in',
  'my',
  'of',
  'on',
  'the',
  'to',
  'with',
]);

/**
 * A pattern for each word: "caps" finds cap and capped, "opt out" finds opted_out; the last word
 * may be incomplete.
 */
function buildPatterns(query) {
  const words = plain(query)
    .split(' ')
    .filter((word, at, all) => word && !(all.length > 1 && IGNORED.has(word)));
  const last = words.length - 1;
  return words.map((word, at) => {
    const stem = word.length > 3 ? word.replace(/s$/, '') : word;
    const forms = `${stem}(?:s|es|p?ed|p?ing)?(?![\\p{L}\\p{N}])`;
    const parts = at === last ? `(?:${forms}|${word})` : `(?:${forms})`;
    return new RegExp(`(?<![\\p{L}\\p{N}])${parts}`, 'u');
  });
}

const texts = new WeakMap();

/** The texts of an index as they are compared. */
function listTexts(index) {
  const cachedTexts = texts.get(index);
  if (cachedTexts) return cachedTexts;
  const newTexts = {
    names: index.fields.map(([name]) => plain(name)),
    descriptions: index.fields.map(([, description]) => plain(description)),
    operations: index.operations.map(({ id, path, summary, title, description }) => ({
      title: plain([summary, path, title, id, id.replace(/([A-Z])/g, ' $1')].join(' . ')),
      description: plain(description),
    })),
  };
  texts.set(index, newTexts);
  return newTexts;
}

/**
 * The operations in which all words of a query are found, the best first: in the title, in the name
 * of a field, in the description, in the description of a field, anywhere. `field` is the position
 * of the field with the words.
 */
export function search(index, query) {
  const patterns = buildPatterns(query);
  if (patterns.length === 0) return [];
  const { names, descriptions, operations } = listTexts(index);
  const matches = (text) => patterns.every((pattern) => pattern.test(text));
  const findAll = (all) => new Set(all.flatMap((text, at) => (matches(text) ? [at] : [])));
  const [named, described] = [findAll(names), findAll(descriptions)];
  // For each word, the fields that have it.
  const fieldsByWord = patterns.map(
    (pattern) =>
      new Set(
        names.flatMap((name, at) => (pattern.test(`${name} ${descriptions[at]}`) ? [at] : [])),
      ),
  );
  const isAnywhere = ({ fields }, { title, description }) =>
    patterns.every(
      (pattern, word) =>
        pattern.test(title) ||
        pattern.test(description) ||
        fields.some((field) => fieldsByWord[word].has(field)),
    );
  const results = index.operations.flatMap((operation, at) => {
    const { title, description } = operations[at];
    const name = operation.fields.find((field) => named.has(field));
    const text = operation.fields.find((field) => described.has(field));
    if (matches(title)) return [{ operation, rank: 0, field: name }];
    if (name !== undefined) return [{ operation, rank: 1, field: name }];
    if (matches(description)) return [{ operation, rank: 2 }];
    if (text !== undefined) return [{ operation, rank: 3, field: text }];
    return isAnywhere(operation, operations[at]) ? [{ operation, rank: 4 }] : [];
  });
  return results.sort((a, b) => a.rank - b.rank);
}
