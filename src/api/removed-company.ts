import type { Operation } from '../platform/contract/contract';
import type { Db } from '../data/db';
import { HttpProblem, type ErrorCode } from '../platform/errors';
import { problemFor } from './reply/error-handler';

/** Problems of a request that runs while its company is removed, in addition to internal errors. */
const REMOVAL_CODES = new Set<ErrorCode>(['unknown_reference', 'wrong_state']);

/**
 * The error of a request, or 401 where its company was removed meanwhile: then no record that the
 * request reads or names exists, and its credentials were valid for a moment only.
 */
export async function errorUnlessRemoved(
  error: unknown,
  operation: Operation,
  { prisma, company_id }: Pick<Db, 'prisma' | 'company_id'>,
): Promise<unknown> {
  const problem = problemFor(error, { operation });
  if (problem && !REMOVAL_CODES.has(problem.code)) return error;
  const where = { id: company_id, removed_at: null };
  const count = await prisma.company.count({ where }).catch(() => undefined);
  if (count !== 0) return error;
  return new HttpProblem('wrong_credentials', 'The company of these credentials was removed.');
}
