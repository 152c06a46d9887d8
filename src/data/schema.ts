import { SCHEMA } from '../generated/schema';

/** `/// word: text` of prisma/schema.prisma. */
export interface Mark {
  word: string;
  text: string;
}

export interface Column {
  name: string;
  /** The type of Prisma, such as String, Json or BigInt. */
  type: string;
  is_list?: true;
  is_optional?: true;
  mark?: Mark;
}

/** A foreign key of company_id and this column. */
export interface ForeignKey {
  column: string;
  /** The table whose row it names. */
  target: string;
  is_optional?: true;
}

/** A model of prisma/schema.prisma; `npm run generate:schema` writes them. */
export interface Table {
  name: string;
  columns: readonly Column[];
  /** The primary key, without company_id. */
  key: readonly string[];
  foreignKeys: readonly ForeignKey[];
  /** The first columns of its indexes. */
  indexed: readonly string[];
  marks: readonly Mark[];
}

const tables = new Map(SCHEMA.map((table) => [table.name, table]));

/** Throws for a table that prisma/schema.prisma does not have. */
export function readTable(name: string): Table {
  const table = tables.get(name);
  if (!table) throw new Error(`there is no table ${name} in prisma/schema.prisma`);
  return table;
}
