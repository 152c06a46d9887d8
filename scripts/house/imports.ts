import { dirname, join, resolve } from 'node:path';
import ts from 'typescript';

/** Files of src by path. */
export type Sources = ReadonlyMap<string, ts.SourceFile>;

/** The file of src that a module name leads to; undefined for a package. */
export function findImported(sources: Sources, from: string, target: string): string | undefined {
  if (!target.startsWith('.')) return undefined;
  const path = resolve(dirname(from), target);
  const candidates = [`${path}.ts`, `${path}.tsx`, join(path, 'index.ts')];
  return candidates.find((candidate) => sources.has(candidate));
}

/** By file, the files that it imports, types included. */
export function mapImports(sources: Sources): Map<string, Set<string>> {
  const imports = new Map<string, Set<string>>();
  for (const [path, { statements }] of sources) {
    const targets = statements.flatMap((statement) =>
      (ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement)) &&
      statement.moduleSpecifier &&
      ts.isStringLiteral(statement.moduleSpecifier)
        ? [statement.moduleSpecifier.text]
        : [],
    );
    const files = targets.flatMap((target) => findImported(sources, path, target) ?? []);
    imports.set(path, new Set(files));
  }
  return imports;
}

/** Groups of files that import each other (Tarjan). */
export function circlesIn(imports: ReadonlyMap<string, Set<string>>): string[][] {
  const circles: string[][] = [];
  const numbers = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const visit = (file: string): void => {
    numbers.set(file, numbers.size);
    lowest.set(file, numbers.get(file)!);
    stack.push(file);
    for (const target of imports.get(file) ?? []) {
      if (!numbers.has(target)) visit(target);
      if (stack.includes(target))
        lowest.set(file, Math.min(lowest.get(file)!, lowest.get(target)!));
    }
    if (lowest.get(file) !== numbers.get(file)) return;
    const circle = stack.splice(stack.indexOf(file));
    if (circle.length > 1) circles.push(circle);
  };
  for (const file of imports.keys()) if (!numbers.has(file)) visit(file);
  return circles;
}
