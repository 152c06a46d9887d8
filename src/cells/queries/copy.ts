/** Deletes the rows of companies, $1, from a table that is known only at run time. */
export const deleteRows = (table: string, company_column: string): string =>
  `DELETE FROM ${table} WHERE ${company_column} = ANY ($1)`;
