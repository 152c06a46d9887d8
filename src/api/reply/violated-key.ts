// Finds the unique or foreign key that an error of Prisma is about.

interface PrismaError {
  meta?: { target?: string[]; driverAdapterError?: { cause?: { constraint?: Constraint } } };
}
interface Constraint {
  fields?: string[];
  index?: string;
}

/**
 * The last column of the key that was violated: keys begin with company_id, and the last column is
 * the one that the caller sent. `token` for a lead token.
 */
export function violatedColumn(error: unknown): string | undefined {
  const { meta } = error as PrismaError;
  const constraint = meta?.driverAdapterError?.cause?.constraint;
  const columns = constraint?.fields ?? meta?.target ?? [];
  const fields = columns.map((column) => column.replaceAll('"', ''));
  return fields.filter((name) => name !== 'company_id').at(-1) ?? columnOfIndex(constraint?.index);
}

/** In a cell, a name of a key has the number of a shard at its end. */
function columnOfIndex(index = ''): string | undefined {
  if (/^lead_tokens_pkey(?:_\d+)?$/.test(index)) return 'token';
  if (/_pkey(?:_\d+)?$/.test(index)) return 'id';
  return /_company_id_(\w+?)_(?:key|fkey)(?:_\d+)?$/.exec(index)?.[1];
}
