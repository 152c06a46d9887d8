import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { escapeHtml } from '../../platform/tokens/substitute';
import { ASSETS, assetUrl } from './assets';
import { GROUPS, pageDocument, type ListedOperation, type Tag } from './tags';

const inline = (text: string): string =>
  escapeHtml(text)
    .replace(/`([^`]+)`/g, '<code>$1</code>')
    .replace(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>')
    .replace(/\[([^[\]]+)\]\((https?:[^)\s]+)\)/g, '<a href="$2">$1</a>');

const block = (text: string): string =>
  text.startsWith('- ')
    ? `<ul>${text
        .split(/^- /m)
        .slice(1)
        .map((item) => `<li>${inline(item.trim())}</li>`)
        .join('')}</ul>`
    : `<p>${inline(text)}</p>`;

/** Paragraphs and lists as HTML: the Markdown that the contract and assets/docs/ use. */
export const paragraphs = (markdown: string): string[] =>
  markdown
    .split(/\n\s*\n/)
    .map((text) => text.trim())
    .filter(Boolean)
    .map(block);

const EXTENSIONS = readFileSync(join(ASSETS, 'extensions.md'), 'utf8');

// The pages are complete HTML with the navigation and the first text; scripts add the rest.

interface Page {
  title: string;
  /** Elements of the head, in addition to those of every page. */
  head: string;
  header: string;
  body: string;
}

export const page = ({ title, head, header, body }: Page): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${assetUrl('pages.css')}">
${head}
</head>
<body>
<header class="top">${header}</header>
${body}
</body>
</html>
`;

const { info } = pageDocument;
export const SUMMARY = escapeHtml(info.summary ?? info.title);
export const INTRODUCTION = paragraphs(info.description ?? '');

export const brand = (href: string) =>
  `<a class="brand" href="${href}">${escapeHtml(info.title)} <small>${info.version}</small></a>`;

export const CONTRACT_LINKS =
  '<a href="/api/openapi.yaml">YAML</a><a href="/api/openapi.json">JSON</a>';

const toDisplayMethod = ({ method, is_event }: ListedOperation) => (is_event ? 'event' : method);

const operationItem = (listed: ListedOperation, base: string): string => {
  const method = toDisplayMethod(listed);
  const summary = escapeHtml(listed.operation.summary ?? listed.id);
  return `<li><a href="${base}#${escapeHtml(listed.anchor)}"><b class="method ${method}">${method}</b>
<span>${summary}</span></a></li>`;
};

const toUrl = ({ name }: Tag) => `/api/reference/${name}`;

function tagItem(tag: Tag, current: Tag | undefined): string {
  const isCurrent = tag === current;
  const mark = isCurrent ? ' aria-current="page"' : '';
  const link = `<a href="${toUrl(tag)}"${mark}>${tag.title}</a>`;
  const operations = tag.operations.map((operation) => operationItem(operation, '')).join('\n');
  return `<li>${link}${isCurrent ? `<ul class="operations">${operations}</ul>` : ''}</li>`;
}

const navigation = (current?: Tag): string =>
  `<nav class="sections" aria-label="Sections">
<a href="/api/reference/"${current ? '' : ' aria-current="page"'}>Introduction</a>
${GROUPS.map(
  ({ name, tags }) =>
    `<h2>${escapeHtml(name)}</h2><ul>${tags.map((tag) => tagItem(tag, current)).join('\n')}</ul>`,
).join('\n')}
</nav>`;

const SEARCH = `<search><input id="search" type="search" autocomplete="off" spellcheck="false"
 placeholder="Search: caps, opt out, …" aria-label="Search operations and fields"
 aria-controls="found"><div id="found" hidden></div></search>`;

const viewerLinks = (tag: Tag): string =>
  `<link rel="preload" href="${toUrl(tag)}.json" as="fetch" crossorigin>
<script src="${assetUrl('rapidoc-min.js')}" defer></script>`;

const referencePage = (title: string, main: string, current?: Tag): string =>
  page({
    title: `${title} · ${info.title} API`,
    head: `<link rel="stylesheet" href="${assetUrl('reference.css')}">
<script src="${assetUrl('reference.js')}" type="module"></script>
${current ? viewerLinks(current) : ''}`,
    header: `${brand('/api/reference/')}${SEARCH}
<nav><a href="/api/docs/">Try it</a>${CONTRACT_LINKS}</nav>
<button id="menu" type="button" aria-expanded="false" aria-controls="sections">Menu</button>`,
    body: `<div class="columns"><div id="sections">${navigation(current)}</div>
<main>${main}</main></div>`,
  });

export const introductionPage = (): string =>
  referencePage(
    'Reference',
    `<h1>${SUMMARY}</h1>
${INTRODUCTION.join('\n')}
${GROUPS.map(
  ({ name, tags }) => `<h2>${escapeHtml(name)}</h2>
${tags.map(tagSummary).join('\n')}`,
).join('\n')}
<h2 id="extensions">Appendix: extensions of the contract</h2>
${paragraphs(EXTENSIONS).join('\n')}`,
  );

function tagSummary(tag: Tag): string {
  const url = toUrl(tag);
  const operations = tag.operations.map((operation) => operationItem(operation, url)).join('\n');
  return `<section class="tag">
<h3><a href="${url}">${tag.title}</a></h3>
${paragraphs(tag.description).join('\n')}
<ul class="operations">${operations}</ul>
</section>`;
}

export function tagPage(tag: Tag): string {
  const items = tag.operations.map((operation) => operationItem(operation, ''));
  return referencePage(
    tag.title,
    `<h1>${tag.title}</h1>
${paragraphs(tag.description).join('\n')}
<div id="operations" data-document="${toUrl(tag)}.json">
<ul class="operations">${items.join('\n')}</ul>
</div>`,
    tag,
  );
}
