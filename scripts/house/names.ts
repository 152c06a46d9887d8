import ts from 'typescript';
import { nameless, openers } from '../plain-words.json';

export const MAX_COLUMNS = 100;

/** Those that lint refuses, and words that a property of the contract may have. */
const DENIED = new Set([
  ...nameless,
  ...['stored', 'written', 'other', 'others', 'own', 'again', 'seen', 'kept', 'named'],
]);
const OPENER = new RegExp(String.raw`^[/*\s]*(${openers.join('|')})\b`);

export interface Counts {
  of_functions: number;
  denied_names: number;
  snake_case_locals: number;
  long_lines: number;
  comments_by_opener: number;
}

export function countIn(file: ts.SourceFile, counts: Counts): void {
  // Taken from a row or a body, a value keeps the name that it has there.
  const declare = (name: ts.BindingName | undefined, isFunction: boolean, keeps = false): void => {
    if (!name) return;
    if (!ts.isIdentifier(name)) {
      for (const element of name.elements)
        if (!ts.isOmittedExpression(element))
          declare(element.name, false, ts.isObjectBindingPattern(name) && !element.propertyName);
      return;
    }
    const { text } = name;
    if (isFunction && /[a-z]Of$/.test(text)) counts.of_functions++;
    if (DENIED.has(text)) counts.denied_names++;
    if (!keeps && /^[a-z][a-z0-9]*(_[a-z0-9]+)+$/.test(text)) counts.snake_case_locals++;
  };
  const visit = (node: ts.Node): void => {
    if (ts.isVariableDeclaration(node)) {
      const { initializer } = node;
      const isFunction =
        initializer !== undefined &&
        (ts.isArrowFunction(initializer) || ts.isFunctionExpression(initializer));
      declare(node.name, isFunction);
    } else if (ts.isParameter(node)) declare(node.name, false);
    else if (ts.isFunctionDeclaration(node)) declare(node.name, true);
    ts.forEachChild(node, visit);
  };
  visit(file);
  const lines = file.text.split('\n');
  counts.long_lines += lines.filter((line) => line.length > MAX_COLUMNS).length;
  counts.comments_by_opener += listComments(lines).filter((comment) => OPENER.test(comment)).length;
}

/** The first line of each comment. */
function listComments(lines: readonly string[]): string[] {
  const isLineComment = (line: string | undefined) => line?.trimStart().startsWith('//') ?? false;
  return lines.flatMap((line, index) => {
    const text = line.trim();
    if (text === '/**') return [`/** ${lines[index + 1]?.trim().replace(/^\* ?/, '') ?? ''}`];
    if (text.startsWith('/*')) return [text];
    return text.startsWith('//') && !isLineComment(lines[index - 1]) ? [text] : [];
  });
}
