import { sql, SqlText } from '../../../data/sql';

/** Digits of other scripts, which spreadsheets and people write too. */
const OTHER_DIGITS = new SqlText(`'０１２３４５６７８９٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹'`);
const ASCII_DIGITS = new SqlText(`'012345678901234567890123456789'`);

/** A column as text with the digits 0 to 9. */
export const toPlainDigits = (column: string): SqlText =>
  sql`translate(${new SqlText(column)}::text, ${OTHER_DIGITS}, ${ASCII_DIGITS})`;

/** True for a text with the number or an address of the person, in any spelling. */
export const isMentioned = (column: string): SqlText =>
  sql`${toPlainDigits(column)} ~* {pattern}::text`;

/** Like `isMentioned`, or the text has exactly the digits of the number. */
export const isSpelled = (column: string): SqlText => sql`
  (
    ${isMentioned(column)}
    OR regexp_replace(${toPlainDigits(column)}, '[^0-9]', '', 'g') = ANY ({digits}::text[])
  )`;
