import { STATUS_CODES } from 'node:http';
import type { RequestHandler } from 'express';
import { contract, type Schemas } from '../../platform/contract/contract';
import { ERROR_CODES } from '../../platform/errors';
import { escapeHtml } from '../../platform/tokens/substitute';

type Problem = Schemas['Problem'];

interface ExplainedError {
  code: string;
  status: number;
  cause: string;
  cure: string;
  example: Problem;
}

/** The examples of problems in the contract: of responses, and of those that no operation has. */
function problemExamples(): Problem[] {
  const { responses, schemas } = contract.document.components;
  const ofResponses = Object.values(responses).flatMap(({ content }) =>
    Object.values(content?.['application/problem+json']?.examples ?? {}),
  );
  return [
    ...ofResponses.map(({ value }) => value as Problem),
    ...(schemas.Problem as { examples: Problem[] }).examples,
  ];
}

function explainErrors(): ExplainedError[] {
  const examples = problemExamples();
  return Object.entries(ERROR_CODES).map(([code, { status, cause, cure }]) => {
    const example = examples.find((problem) => problem.code === code);
    if (!example) throw new Error(`the contract has no example of the error ${code}`);
    return { code, status, cause, cure, example };
  });
}

const prose = (text: string): string => escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>');

const renderSection = ({ code, status, cause, cure, example }: ExplainedError): string => `
<section id="${code}">
<h2><a href="#${code}">${code}</a></h2>
<p><b>${status} ${STATUS_CODES[status]}.</b> ${prose(cause)}</p>
<p><b>What to do.</b> ${prose(cure)}</p>
<pre>${escapeHtml(JSON.stringify(example, null, 2))}</pre>
</section>`;

/** Links to all codes, by status. */
function renderIndex(errors: readonly ExplainedError[]): string {
  const statuses = [...new Set(errors.map(({ status }) => status))].toSorted((a, b) => a - b);
  const rows = statuses.map((status) => {
    const links = errors
      .filter((error) => error.status === status)
      .map(({ code }) => `<a href="#${code}">${code}</a>`);
    return `<dt>${status} ${STATUS_CODES[status]}</dt><dd>${links.join(', ')}</dd>`;
  });
  return `<nav aria-label="Codes by status"><dl>${rows.join('\n')}</dl></nav>`;
}

const renderPage = (errors: readonly ExplainedError[]): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Errors of the Trunkline API</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 48rem; margin: 2rem auto; padding: 0 1rem }
pre { overflow-x: auto; padding: 1rem; background: #f4f4f4; font-size: 13px }
section:target { outline: 2px solid #2563eb; outline-offset: .5rem }
h2 { font-family: ui-monospace, monospace; font-size: 1.1rem; margin-top: 2.5rem }
h2 a { color: inherit }
dt { font-weight: 600; margin-top: .75rem }
dd { margin: 0; font-family: ui-monospace, monospace; font-size: 13px }
</style>
<h1>Errors</h1>
<p>Every error has a <code>code</code>, a stable word to act on; its texts are for people and may
change. Its <code>type</code> points to the code on this page. <code>error_codes</code> has a code
for each text in <code>errors</code>. Treat a code that you do not know by its status.
<a href="/api/docs/">All operations</a></p>
${renderIndex(errors)}
${errors.map(renderSection).join('\n')}
</html>
`;

/** The meaning and the cure of each code, generated from the contract. */
export function errorPage(): RequestHandler {
  const page = renderPage(explainErrors());
  return (_req, res) => void res.type('html').send(page);
}
