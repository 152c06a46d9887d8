import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BASE_PATH } from '../../platform/contract/contract';
import { escapeHtml } from '../../platform/tokens/substitute';
import { ASSETS, assetUrl } from './assets';
import { brand, CONTRACT_LINKS, INTRODUCTION, page, paragraphs, SUMMARY } from './pages';
import { GROUPS, pageDocument, type Group, type ListedOperation, type Tag } from './tags';

// Swagger UI's page before Swagger UI itself comes: the list of all operations, in its elements
// and classes, so that it looks alike. Scripts open tags and search (assets/docs/list.js), and load
// Swagger UI when more is needed.

const readIcons = () => readFileSync(join(ASSETS, 'icons.svg'), 'utf8');
const icon = (name: string, className = name): string =>
  `<svg class="${className}" width="20" height="20" aria-hidden="true"><use href="#${name}"/></svg>`;

const { security: usualSecurity } = pageDocument;
/** The schemes of which one is enough. */
const listSchemes = (security = usualSecurity) => security.flatMap(Object.keys).join(' ');

const authorizationButton = (schemes: string): string =>
  `<button class="authorization__btn" data-schemes="${schemes}" aria-label="Authorize">` +
  `${icon('unlocked')}</button>`;

function operationItem({ id, method, path, operation }: ListedOperation): string {
  const schemes = listSchemes(operation.security);
  const shownPath = escapeHtml(path);
  return `<span><div class="opblock opblock-${method}" id="operations-${operation.tags[0]}-${id}">
<div class="opblock-summary"><button aria-expanded="false" class="opblock-summary-control">
<span class="opblock-summary-method">${method.toUpperCase()}</span>
<div class="opblock-summary-path-description-wrapper">
<span class="opblock-summary-path"><span>${shownPath.replace(/(?<=.)\//g, '<wbr>/')}</span></span>
<div class="opblock-summary-description">${escapeHtml(operation.summary ?? '')}</div></div></button>
${schemes && authorizationButton(schemes)}
<button class="opblock-control-arrow" aria-label="${method} ${shownPath}" tabindex="-1">
${icon('arrow')}</button></div></div></span>`;
}

/** Closed; the browser's search looks into it, and paper and browsers without scripts show it. */
const tagSection = ({ name, description, operations }: Tag): string =>
  `<span><div class="opblock-tag-section"><h3 class="opblock-tag" id="operations-tag-${name}">
<a class="nostyle" href="#/${name}"><span>${name}</span></a>
<small><div class="renderedMarkdown">${paragraphs(description).join('\n')}</div></small>
<button aria-expanded="false" class="expand-operation" title="Expand operation">${icon('arrow')}
</button></h3><div class="no-margin" hidden="until-found"><div class="operation-tag-content">
${operations
  .filter(({ is_event }) => !is_event)
  .map(operationItem)
  .join('\n')}</div></div></div></span>`;

const groupSection = ({ name, tags }: Group): string =>
  `<div class="group"><h2 class="tag-group">${escapeHtml(name)}</h2>
${tags.map(tagSection).join('\n')}</div>`;

const SERVER = `<div class="schemes-server-container"><div><span class="servers-title">Servers</span>
<div class="servers"><label for="servers"><select id="servers" aria-label="Server">
<option>${BASE_PATH} - This server</option></select></label></div></div></div>`;

const SEARCH = `<div class="filter-box"><input type="search" class="operation-filter-input"
 placeholder="Search operations, parameters and fields: caps, opt out, …"
 aria-label="Search operations, parameters and fields" autocomplete="off">
<p role="status"></p></div>`;

const renderList = (): string => `<div class="swagger-ui" id="list">
<div class="information-container wrapper"><section class="block col-12"></section></div>
<div class="scheme-container"><section class="schemes wrapper block col-12">${SERVER}
<div class="auth-wrapper"><button class="btn authorize unlocked" data-schemes="${listSchemes()}">
<span>Authorize</span>${icon('unlocked', '')}</button></div></section></div>
${SEARCH}
<main id="operations" tabindex="-1"><div class="wrapper">
<section class="block col-12 block-desktop col-12-desktop">
${GROUPS.map(groupSection).join('\n')}
</section></div></main></div>`;

export const swaggerPage = (): string =>
  page({
    title: `${pageDocument.info.title} API`,
    head: `<link rel="stylesheet" href="${assetUrl('swagger-ui.css')}">
<link rel="stylesheet" href="${assetUrl('swagger.css')}">
<link rel="modulepreload" href="${assetUrl('search.js')}">
<script src="${assetUrl('list.js')}" type="module"></script>`,
    header:
      brand('/api/docs/') + `<nav><a href="/api/reference/">Reference</a>${CONTRACT_LINKS}</nav>`,
    body: `<section class="introduction">
<h1>${SUMMARY}</h1>
${INTRODUCTION[0]}
<details><summary>What holds for every operation</summary>
${INTRODUCTION.slice(1).join('\n')}
</details>
</section>
<div id="swagger-ui">${readIcons()}${renderList()}</div>`,
  });
