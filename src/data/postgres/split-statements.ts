/**
 * Text that must not be cut at a semicolon: comments, strings, quoted names, and function bodies in
 * dollar quotes. Bodies in the form BEGIN ATOMIC … END are not supported.
 */
const PARTS = new RegExp(
  [
    String.raw`--[^\n]*`,
    String.raw`\/\*[\s\S]*?\*\/`,
    String.raw`\b[eE]'(?:[^'\\]|\\[\s\S]|'')*'`,
    String.raw`'(?:[^']|'')*'`,
    String.raw`"(?:[^"]|"")*"`,
    String.raw`\$([A-Za-z_]\w*)?\$[\s\S]*?\$\1\$`,
    String.raw`[^;]`,
  ].join('|'),
  'y',
);

/** The statements of a script, each without the semicolon at its end. */
export function splitStatements(script: string): string[] {
  const statements: string[] = [];
  let current = '';
  let hasSql = false;
  const end = () => {
    if (hasSql) statements.push(current.trim());
    current = '';
    hasSql = false;
  };
  PARTS.lastIndex = 0;
  for (let at = 0; at < script.length; at = PARTS.lastIndex) {
    const [part] = PARTS.exec(script) ?? [];
    if (part === undefined) {
      end();
      PARTS.lastIndex = at + 1;
      continue;
    }
    current += part;
    if (part.trim() && !part.startsWith('--') && !part.startsWith('/*')) hasSql = true;
  }
  end();
  return statements;
}
