/**
 * Which of the rows that make up a count is written to, in SQL. Of a connection always the same: a transaction that counts several times holds one
 * row, and two of them never hold what the other waits for.
 */
export const SLOT = 'pg_backend_pid() % 64';
