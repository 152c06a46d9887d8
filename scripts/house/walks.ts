import ts from 'typescript';
import { findImported, type Sources } from './imports';

// How much a reader must know of a walk: the files with code that an operation can reach, from
// declaration to declaration, by the names that the code uses. Types count nothing. More than one
// request visits: all branches count. What is reached through `deps` or an SQL function is not seen.

export interface Walk {
  name: string;
  /** Where it begins: files below src/, each with a function or an operation. */
  starts: readonly (readonly [file: string, name: string])[];
}

/** Those of docs/architecture.md. */
export const WALKS: readonly Walk[] = [
  { name: 'an inbound call', starts: [['domain/calls/call-sessions.ts', 'createCallSession']] },
  { name: 'an event of a call', starts: [['domain/calls/call-sessions.ts', 'createCallEvent']] },
  { name: 'a lead', starts: [['domain/leads/leads.ts', 'submitLead']] },
  { name: "a lead's next step", starts: [['domain/outreach/due-leads.ts', 'processDueLeads']] },
  {
    name: 'an import',
    starts: [
      ['domain/suppression/add-file.ts', 'addSuppressionFile'],
      ['domain/suppression/import-file.ts', 'importSuppressionFile'],
      ['domain/suppression/csv/thread.ts', 'start'],
    ],
  },
];

interface Import {
  file: string;
  /** The name there; absent for all of the module. */
  name?: string;
}

interface Module {
  /** Declarations with code at the top of the file. */
  declared: Map<string, ts.Node>;
  /** Names from other files of src, also those that are only passed on. */
  imported: Map<string, Import>;
}

export class Reach {
  private readonly modules = new Map<string, Module>();

  constructor(private readonly sources: Sources) {}

  /** Returns the files, with that of the start. */
  findFiles(file: string, name: string): Set<string> {
    const files = new Set([file]);
    const visited = new Set<ts.Node>();
    const enter = (path: string, node: ts.Node, locals: Locals = new Map()) => {
      if (visited.has(node)) return;
      visited.add(node);
      files.add(path);
      for (const word of listNames(node)) {
        const local = locals.get(word);
        if (local) enter(path, local, locals);
        else follow({ file: path, name: word });
      }
    };
    const follow = ({ file: path, name: word }: Import): void => {
      const { declared, imported } = this.read(path);
      if (word === undefined) return [...declared.values()].forEach((node) => enter(path, node));
      const node = declared.get(word);
      if (node) return enter(path, node);
      const target = imported.get(word);
      if (target) follow(target);
    };
    const start = findStart(this.sources.get(file), name);
    if (!start) throw new Error(`${file} has no ${name}`);
    enter(file, start, listLocals(start));
    return files;
  }

  private read(path: string): Module {
    let module = this.modules.get(path);
    if (!module) this.modules.set(path, (module = this.parse(path)));
    return module;
  }

  private parse(path: string): Module {
    const declared: Module['declared'] = new Map();
    const imported: Module['imported'] = new Map();
    for (const statement of this.sources.get(path)!.statements) {
      for (const [name, node] of listDeclarations(statement)) declared.set(name, node);
      if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) continue;
      const specifier = statement.moduleSpecifier as ts.StringLiteral | undefined;
      const file = specifier && findImported(this.sources, path, specifier.text);
      if (!file) continue;
      for (const [local, name] of listImports(statement))
        imported.set(local, { file, ...(name !== undefined && { name }) });
    }
    return { declared, imported };
  }
}

type Locals = Map<string, ts.Node>;

function* listDeclarations(statement: ts.Statement): Generator<[string, ts.Node]> {
  if (ts.isVariableStatement(statement))
    for (const declaration of statement.declarationList.declarations)
      for (const name of listBindings(declaration.name)) yield [name, declaration];
  const hasCode = ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement);
  if ((hasCode || ts.isEnumDeclaration(statement)) && statement.name)
    yield [statement.name.text, statement];
}

function listBindings(name: ts.BindingName): string[] {
  if (ts.isIdentifier(name)) return [name.text];
  return name.elements.flatMap((element) =>
    ts.isOmittedExpression(element) ? [] : listBindings(element.name),
  );
}

/** Names in this file and in the other one; without types. */
function listImports(
  statement: ts.ImportDeclaration | ts.ExportDeclaration,
): [string, string | undefined][] {
  const isImport = ts.isImportDeclaration(statement);
  const bindings = isImport ? statement.importClause?.namedBindings : statement.exportClause;
  const isType = isImport ? statement.importClause?.isTypeOnly : statement.isTypeOnly;
  if (!bindings || isType) return [];
  if (ts.isNamespaceImport(bindings) || ts.isNamespaceExport(bindings))
    return [[bindings.name.text, undefined]];
  return bindings.elements
    .filter((element) => !element.isTypeOnly)
    .map(({ name, propertyName }) => [name.text, (propertyName ?? name).text]);
}

/** The names of values that the code of a node uses. */
function listNames(root: ts.Node): Set<string> {
  const names = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) && !ts.isExpressionWithTypeArguments(node)) return;
    if (ts.isIdentifier(node)) return void names.add(node.text);
    if (ts.isPropertyAccessExpression(node)) return visit(node.expression);
    const isNamed = ts.isPropertyAssignment(node) || ts.isMethodDeclaration(node);
    ts.forEachChild(node, (child) => {
      if (!(isNamed && child === node.name && ts.isIdentifier(child))) visit(child);
    });
  };
  visit(root);
  return names;
}

/** The function of that name, or the property of a handler, wherever it is in the file. */
function findStart(root: ts.Node | undefined, name: string): ts.Node | undefined {
  const isStart = (node: ts.Node) =>
    (ts.isPropertyAssignment(node) ||
      ts.isMethodDeclaration(node) ||
      ts.isFunctionDeclaration(node) ||
      ts.isVariableDeclaration(node)) &&
    node.name?.getText() === name;
  const find = (node: ts.Node): ts.Node | undefined =>
    isStart(node) ? node : ts.forEachChild(node, find);
  return root && find(root);
}

/** The declarations of the functions around a node. */
function listLocals(start: ts.Node): Locals {
  const locals: Locals = new Map();
  for (let node = start.parent; !ts.isSourceFile(node); node = node.parent)
    if (ts.isBlock(node))
      for (const statement of node.statements)
        for (const [name, declaration] of listDeclarations(statement))
          locals.set(name, declaration);
  return locals;
}
