import { Test } from 'supertest';

// The answers that a test received. A test that fails prints the last of them with status and body:
// that 503 is not 200 does not say why.

interface Answer {
  request: string;
  status: number | null;
  body: string;
}

const MAX_KEPT = 200;
const MAX_PRINTED = 5;
const MAX_BODY_CHARS = 600;

const keptAnswers: Answer[] = [];
let isRecording = false;

/** Keeps an answer, or what a program ended with, for the case that the test fails. */
export function keepAnswer(answer: Answer): void {
  keptAnswers.push(answer);
  if (keptAnswers.length > MAX_KEPT) keptAnswers.shift();
}

interface SupertestRequest {
  method: string;
  url: string;
  assert(error: unknown, res: { status: number; text?: string } | undefined, done: unknown): void;
}

/** Records the answers to all requests of supertest, and of fetch. */
export function recordAnswers(): void {
  if (isRecording) return;
  isRecording = true;
  const prototype = Test.prototype as unknown as SupertestRequest;
  const { assert } = prototype;
  prototype.assert = function (this: SupertestRequest, error, res, done) {
    const request = `${this.method} ${toPath(this.url)}`;
    if (res) keepAnswer({ request, status: res.status, body: res.text ?? '' });
    return assert.call(this, error, res, done);
  };
  const fetched = globalThis.fetch;
  globalThis.fetch = async (input, init) => {
    const res = await fetched(input, init);
    const request = `${init?.method ?? 'GET'} ${toPath(res.url)}`;
    // The body of a success may be a stream without end.
    const body = res.status >= 400 ? await res.clone().text() : '(not kept)';
    keepAnswer({ request, status: res.status, body });
    return res;
  };
}

const toPath = (url: string): string => url.replace(/^https?:\/\/[^/]+/, '');

const formatAnswer = ({ request, status, body }: Answer): string =>
  `  ${status} ${request}\n      ${body.slice(0, MAX_BODY_CHARS)}`;

const isError = ({ status }: Answer): boolean => status === null || status === 1 || status >= 400;

/** The last errors, and the very last answer. */
function lastAnswers(): string {
  const last = keptAnswers.at(-1);
  if (!last) return '';
  const errors = keptAnswers.filter((answer) => answer !== last && isError(answer));
  const shown = [...errors.slice(-MAX_PRINTED), last].map(formatAnswer);
  return `\n\nThe last errors answered in this test, and its last answer:\n${shown.join('\n')}\n`;
}

/** Adds the answers to the message of what made a test fail. */
function explain(error: unknown): void {
  const text = lastAnswers();
  if (!(error instanceof Error) || !text || error.stack?.includes(text)) return;
  const stack = error.stack ?? error.message;
  const at = stack.search(/\n\s+at /);
  error.stack = at < 0 ? stack + text : stack.slice(0, at) + text + stack.slice(at);
}

/** For `handleTestEvent` of Jest's environment. */
export function onTestEvent({ name, error }: { name: string; error?: unknown }): void {
  if (name === 'test_start') keptAnswers.length = 0;
  if (name === 'test_fn_failure' || name === 'hook_failure') explain(error);
}
