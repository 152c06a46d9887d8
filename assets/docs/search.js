// Search in the operations of the contract: paths, summaries, descriptions, and the names and
// descriptions of parameters and fields. Swagger UI and the reference find the same.

/** Loads what is searched (src/api/docs/search-index.ts). */
export async function loadIndex() {
  const response = await fetch('/api/docs/search.json');
  return response.json();
}

const plain = (text) =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();

/** "caps" finds cap and capped, "opt out" finds opted_out; the last word may be incomplete. */
function buildPattern(query) {
  const words = plain(query).split(' ').filter(Boolean);
  const last = words.length - 1;
  const parts = words.map((word, at) => {
    const stem = word.length > 3 ? word.replace(/s$/, '') : word;
    const forms = `${stem}(?:s|es|p?ed|p?ing)?(?![\\p{L}\\p{N}])`;
    return at === last ? `(?:${forms}|${word})` : `(?:${forms})`;
  });
  return parts.length > 0 ? new RegExp(`(?<![\\p{L}\\p{N}])${parts.join(' ')}`, 'u') : undefined;
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
      title: plain([summary, path, title, id.replace(/([A-Z])/g, ' $1')].join(' . ')),
      description: plain(description),
    })),
  };
  texts.set(index, newTexts);
  return newTexts;
}

/**
 * The operations in which a query is found, the best first: in the title, in the name of a field,
 * in the description, in the description of a field. `field` is the position of that field.
 */
export function search(index, query) {
  const pattern = buildPattern(query);
  if (!pattern) return [];
  const { names, descriptions, operations } = listTexts(index);
  const named = new Set(names.flatMap((text, at) => (pattern.test(text) ? [at] : [])));
  const described = new Set(descriptions.flatMap((text, at) => (pattern.test(text) ? [at] : [])));
  const matches = index.operations.flatMap((operation, at) => {
    const name = operation.fields.find((field) => named.has(field));
    const description = operation.fields.find((field) => described.has(field));
    if (pattern.test(operations[at].title)) return [{ operation, rank: 0, field: name }];
    if (name !== undefined) return [{ operation, rank: 1, field: name }];
    if (pattern.test(operations[at].description)) return [{ operation, rank: 2 }];
    return description === undefined ? [] : [{ operation, rank: 3, field: description }];
  });
  return matches.sort((a, b) => a.rank - b.rank);
}
