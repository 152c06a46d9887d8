import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PRISMA_FOLDER } from '../../data/postgres/migrate';

// Reads tables, foreign keys and marks (`/// word: text`) from prisma/schema.prisma.

export interface Mark {
  word: string;
  text: string;
}

export interface Column {
  name: string;
  /** The type of Prisma, such as String, Json or BigInt. */
  type: string;
  is_list: boolean;
  is_optional: boolean;
  marks: readonly Mark[];
}

/** A foreign key of company_id and this column. */
export interface ForeignKey {
  column: Column;
  /** The table whose row it names. */
  target: string;
}

export interface Table {
  name: string;
  columns: readonly Column[];
  /** The primary key, without company_id. */
  key: readonly string[];
  foreignKeys: readonly ForeignKey[];
  marks: readonly Mark[];
}

const FIELD = /^ {2}(\w+) +(\w+)(?:\("\w+"\))?(\[\])?(\?)?(.*)/;

const splitNames = (list: string | undefined): string[] => list?.split(/,\s*/) ?? [];

/** Marks among comments; a comment that is not one has no colon after its first words. */
const readMarks = (text: string): Mark[] =>
  [...text.matchAll(/\/\/\/ ([a-z]+(?: of)?): (.*)/g)].map(([, word, mark]) => ({
    word: word!,
    text: mark!,
  }));

interface Model {
  name: string;
  table: string;
  body: string;
  marks: readonly Mark[];
}

function readTable({ table, body, marks }: Model, tableNames: ReadonlyMap<string, string>): Table {
  const columns = new Map<string, Column>();
  const relations: { column: string; target: string }[] = [];
  let key = splitNames(/^ {2}@@id\(\[([^\]]*)\]/m.exec(body)?.[1]);
  for (const line of body.split('\n')) {
    const [, name, type, list, optional, attributes] = FIELD.exec(line) ?? [];
    if (name === undefined) continue;
    if (attributes!.includes('@id')) key = [name];
    const target = tableNames.get(type!);
    const fields = splitNames(/fields: \[([^\]]*)\]/.exec(attributes!)?.[1]);
    const column = fields.find((field) => field !== 'company_id');
    if (target !== undefined) {
      if (column !== undefined) relations.push({ column, target });
      continue;
    }
    columns.set(name, {
      name,
      type: type!,
      is_list: list !== undefined,
      is_optional: optional !== undefined,
      marks: readMarks(attributes!),
    });
  }
  return {
    name: table,
    columns: [...columns.values()],
    key: key.filter((name) => name !== 'company_id'),
    foreignKeys: relations.map(({ column, target }) => ({ column: columns.get(column)!, target })),
    marks,
  };
}

function readSchema(text: string): Table[] {
  const models = text.split(/^\}/m).flatMap((block): Model[] => {
    const [comments, body] = block.split(/^model (?=\w+ \{$)/m);
    if (body === undefined) return [];
    const table = /^ {2}@@map\("(\w+)"\)/m.exec(body)![1]!;
    return [{ name: /^\w+/.exec(body)![0], table, body, marks: readMarks(comments!) }];
  });
  const tableNames = new Map(models.map(({ name, table }) => [name, table]));
  return models.map((model) => readTable(model, tableNames));
}

export const SCHEMA: readonly Table[] = readSchema(
  readFileSync(join(PRISMA_FOLDER, 'schema.prisma'), 'utf8'),
);
