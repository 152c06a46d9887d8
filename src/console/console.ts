import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Router } from 'express';
import { HttpProblem } from '../platform/errors';
import { PreparedAnswer, send, sendPrepared } from '../api/docs/prepared';
import { describeNouns } from './describe-nouns';

// The console: a page that is a client of the public API and nothing more. This serves its files;
// src/console/client/ has their sources, which the build bundles.

/** Valid from src/ and from dist/. */
const BUILD_FOLDER = join(__dirname, '../../dist/console/client');

/**
 * The page loads only its own script and style, sends requests only to this server, and is in no
 * frame. Nothing is inline.
 */
const POLICY = [
  "default-src 'none'",
  ...['script-src', 'style-src', 'connect-src'].map((kind) => `${kind} 'self'`),
  "img-src 'self' data:",
  "media-src 'self' blob:",
  ...['base-uri', 'form-action', 'frame-ancestors'].map((kind) => `${kind} 'none'`),
].join('; ');

/** The build names a chunk by its content. */
const CHUNK = /^[\w-]+-[A-Z0-9]{8}\.js$/;
const TYPES = { js: 'text/javascript', css: 'text/css' };

interface ConsoleFiles {
  names: { script: string; style: string; nouns: string };
  files: ReadonlyMap<string, PreparedAnswer>;
}

/** Serves the console at /console/; `folder` has the built files. */
export function consolePages(folder = BUILD_FOLDER): Router {
  const router = Router({ strict: true });
  router.use('/console', (_req, res, next) => {
    res.set({
      'Content-Security-Policy': POLICY,
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
      'Cross-Origin-Opener-Policy': 'same-origin',
    });
    next();
  });
  router.get('/console', (_req, res) => res.redirect(308, '/console/'));
  let read: ConsoleFiles | undefined;
  const built = () => (read ??= readFiles(folder));
  router.get(
    ['/console/', '/console/board'],
    send(() => new PreparedAnswer('text/html', page(built().names))),
  );
  router.get('/console/:name', (req, res) => {
    const file = built().files.get(req.params.name);
    if (!file) throw new HttpProblem('unknown_path', 'There is no such path.');
    return sendPrepared(req, res, file, 'forever');
  });
  return router;
}

/** The entry is under a name that changes with its content; the other scripts have such names. */
function readFiles(folder: string): ConsoleFiles {
  const read = (name: string, type: string): PreparedAnswer => {
    const path = join(folder, name);
    if (!existsSync(path))
      throw new HttpProblem(
        'unknown_path',
        'The console is not built: start the server by `npm start`.',
      );
    return new PreparedAnswer(type, readFileSync(path));
  };
  const script = read('main.js', TYPES.js);
  const style = read('main.css', TYPES.css);
  const nouns = new PreparedAnswer('application/json', JSON.stringify(describeNouns()));
  const names = {
    script: `main-${script.tag}.js`,
    style: `main-${style.tag}.css`,
    nouns: `nouns-${nouns.tag}.json`,
  };
  const chunks = readdirSync(folder)
    .filter((name) => CHUNK.test(name))
    .map((name): [string, PreparedAnswer] => [name, read(name, TYPES.js)]);
  return {
    names,
    files: new Map([...chunks, [names.script, script], [names.style, style], [names.nouns, nouns]]),
  };
}

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E" +
  "%3Crect width='16' height='16' rx='3' fill='%231f5fbf'/%3E" +
  "%3Cpath d='M3 4h10M8 4v8M8 8l4 4M8 8l-4 4' stroke='%23fff' stroke-width='1.6' fill='none'/%3E" +
  '%3C/svg%3E';

const page = ({ script, style, nouns }: ConsoleFiles['names']): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<meta name="theme-color" content="#1f5fbf">
<title>Trunkline</title>
<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="${style}">
<link rel="preload" as="fetch" crossorigin href="${nouns}">
<script type="module" src="${script}"></script>
</head>
<body>
<noscript>This page needs JavaScript.</noscript>
<div id="root"></div>
</body>
</html>
`;
