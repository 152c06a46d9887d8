// The reference: search, the menu of narrow screens, and the operations of a tag by RapiDoc.
import { countText, loadIndex, search } from './search.js';

const MAX_FOUND = 40;
const EXAMPLE_SERVER = 'http://127.0.0.1:3000';

const input = document.getElementById('search');
const results = document.getElementById('found');
const menu = document.getElementById('menu');
const sections = document.getElementById('sections');

function element(tag, attributes, ...children) {
  const created = Object.assign(document.createElement(tag), attributes);
  created.append(...children);
  return created;
}

function item({ operation, field }, fields) {
  const { method, path, summary, title, tag, anchor } = operation;
  const [name, description] = field === undefined ? [] : fields[field];
  const why = name ? [element('code', {}, name), description ? ` ${description}` : ''] : [];
  return element(
    'a',
    { href: `/api/reference/${tag}#${anchor}` },
    element('b', { className: `method ${method}` }, method),
    element('span', {}, element('strong', {}, summary), ` ${title} · ${path}`),
    element('small', {}, ...why),
  );
}

async function show() {
  const query = input.value.trim();
  results.hidden = query === '';
  if (!query) return results.replaceChildren();
  const all = await loadIndex();
  if (query !== input.value.trim()) return;
  const matches = search(all, query);
  results.replaceChildren(
    element('p', { role: 'status' }, countText(matches.length)),
    ...matches.slice(0, MAX_FOUND).map((match) => item(match, all.fields)),
  );
}

input.addEventListener('focus', () => void loadIndex());
input.addEventListener('input', () => void show());
input.addEventListener('keydown', ({ key }) => {
  if (key === 'Enter') results.querySelector('a')?.click();
});
results.addEventListener('click', () => (results.hidden = true));
document.addEventListener('click', ({ target }) => {
  if (!(target instanceof Node) || !input.parentElement.contains(target)) results.hidden = true;
});
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') results.hidden = true;
  if (event.key !== '/' || event.target !== document.body) return;
  event.preventDefault();
  input.focus();
});

menu.addEventListener('click', () => {
  const is_open = sections.classList.toggle('open');
  menu.setAttribute('aria-expanded', String(is_open));
});
sections.addEventListener('click', ({ target }) => {
  if (!(target instanceof Element) || !target.closest('a')) return;
  sections.classList.remove('open');
  menu.setAttribute('aria-expanded', 'false');
});

const LOOK = {
  'render-style': 'read',
  'show-header': 'false',
  'show-info': 'false',
  'show-side-nav': 'false',
  'allow-server-selection': 'false',
  'allow-authentication': 'false',
  'allow-try': 'false',
  'allow-spec-file-download': 'false',
  'load-fonts': 'false',
  'sort-endpoints-by': 'none',
  'schema-style': 'table',
  'schema-description-expanded': 'true',
  'schema-expand-level': '1',
  'default-schema-tab': 'schema',
  'regular-font': 'system-ui, sans-serif',
  'mono-font': 'ui-monospace, monospace',
};

/** The colors of the page (pages.css). */
function colors() {
  const is_dark = matchMedia('(prefers-color-scheme: dark)').matches;
  const style = getComputedStyle(document.documentElement);
  const color = (name) => style.getPropertyValue(`--${name}`).trim();
  return {
    theme: is_dark ? 'dark' : 'light',
    'bg-color': color('back'),
    'text-color': color('text'),
    'primary-color': color('accent'),
  };
}

const NARROW_TABLES = `@container (max-width: 500px) {
  .table .tr {
    flex-wrap: wrap;
    max-height: none;
    padding-bottom: 4px;
  }
  .table .key {
    width: auto;
    margin-right: 12px;
    overflow-wrap: anywhere;
  }
  .table .key-type {
    width: auto;
  }
  .table .key-descr {
    display: block;
    flex-basis: 100%;
    margin: 0;
    padding: 0 0 0 14px;
    max-width: none;
  }
  .table .tr .key-descr:empty,
  .table .toolbar + span + div > div:first-child > .key-descr {
    display: none;
  }
}`;

/** RapiDoc leaves the descriptions of fields out where its tables are narrow. */
function showDescriptionsOnPhones() {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(NARROW_TABLES);
  // Lit gives each element of a class these style sheets.
  customElements.get('schema-table').elementStyles.push(sheet);
}

/** Samples name the server that the reader looks at. */
async function loadDocument(url) {
  const response = await fetch(url);
  return JSON.parse((await response.text()).replaceAll(EXAMPLE_SERVER, location.origin));
}

async function showOperations(container) {
  const [contract] = await Promise.all([
    loadDocument(container.dataset.document),
    customElements.whenDefined('rapi-doc'),
  ]);
  const viewer = document.createElement('rapi-doc');
  showDescriptionsOnPhones();
  for (const [name, value] of Object.entries({ ...LOOK, ...colors() }))
    viewer.setAttribute(name, value);
  // RapiDoc gives a parent without height that of the screen.
  container.style.height = 'auto';
  container.replaceChildren(viewer);
  await viewer.updateComplete;
  viewer.loadSpec(contract);
}

const container = document.getElementById('operations');
if (container) await showOperations(container);
