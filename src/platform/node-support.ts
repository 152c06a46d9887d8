/** The last month in which each release line of Node.js that still works got fixes. */
const END_OF_SUPPORT: Record<string, string> = { 20: 'April 2026' };

/** A sentence for a version of Node.js that gets no more fixes; undefined for the others. */
export function describeNodeSupport(version = process.versions.node): string | undefined {
  const [major = ''] = version.split('.');
  const end = END_OF_SUPPORT[major];
  return end && `Node.js ${major} has been out of support since ${end}: use Node.js 24.`;
}
