/** Deletes the rows of companies, $1, from a table that is known only at run time. */
export const deleteRows = (table: string, companyColumn: string): string =>
  `DELETE FROM ${table} WHERE ${companyColumn} = ANY ($1)`;
