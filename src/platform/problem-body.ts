import { STATUS_CODES } from 'node:http';

/** The page that explains the codes of errors. */
export const ERRORS_PATH = '/api/docs/errors';

interface ProblemParts<Code> {
  status: number;
  code: Code;
  detail: string;
  instance: string;
  /** Messages and codes by field. */
  errors: Record<string, string[]>;
  error_codes: Record<string, Code[]>;
  /** Set where these do not have all. */
  error_count?: number | undefined;
  request_id: string;
}

/** The body of every error: RFC 9457, with fields for existing clients (success, message). */
export const buildProblemBody = <Code extends string>({
  status,
  code,
  detail,
  instance,
  errors,
  error_codes,
  error_count,
  request_id,
}: ProblemParts<Code>) => ({
  type: `${ERRORS_PATH}#${code}`,
  title: STATUS_CODES[status] ?? 'Error',
  status,
  code,
  detail,
  instance,
  success: false as const,
  message: detail,
  errors,
  error_codes,
  ...(error_count !== undefined && { error_count }),
  request_id,
});
