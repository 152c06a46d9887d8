// How far a status is, in SQL: what comes late does not undo what came before.

export const messageRank = (status: string): string =>
  `CASE ${status} WHEN 'sending' THEN 0 WHEN 'queued' THEN 1 WHEN 'sent' THEN 2 ELSE 3 END`;
export const callRank = (status: string): string =>
  `CASE ${status} WHEN 'sending' THEN 0 WHEN 'queued' THEN 1 WHEN 'ringing' THEN 2 WHEN 'in_progress' THEN 3 ELSE 4 END`;
