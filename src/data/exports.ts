import { HttpProblem } from '../platform/errors';

/** Exports that a company may run at the same time in one process. */
const MAX_EXPORTS = 2;
const running = new Map<string, number>();

/** Begins an export of a company; returns a function that ends it. Throws 429 if too many run. */
export function beginExport(company: string): () => void {
  const runningExports = running.get(company) ?? 0;
  if (runningExports >= MAX_EXPORTS) {
    throw new HttpProblem(
      'too_many_at_once',
      `Your company already runs ${MAX_EXPORTS} exports. Read one of them to its end first.`,
      { headers: { 'Retry-After': '10' } },
    );
  }
  running.set(company, runningExports + 1);
  return () => {
    const left = running.get(company)! - 1;
    if (left > 0) running.set(company, left);
    else running.delete(company);
  };
}
