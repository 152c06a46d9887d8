// The list of operations, as the server sends it: tags open, a search leaves what it finds. When
// more is needed, Swagger UI comes (swagger.js) and takes over with the same tags open.
import { countText, loadIndex, search } from './search.js';

const list = document.getElementById('list');
const input = list.querySelector('.operation-filter-input');
const status = list.querySelector('[role=status]');
const readTag = (heading) => heading.id.replace('operations-tag-', '');
const headings = [...list.querySelectorAll('.opblock-tag')];
const tags = new Map(headings.map((heading) => [readTag(heading), heading.parentElement]));

/** As the reader has set them; else a search opens what it leaves. */
const openTags = new Map();
const readPhrase = () => input.value.trim();
const isOpen = (tag) => openTags.get(tag) ?? readPhrase() !== '';

function showTag(tag) {
  const section = tags.get(tag);
  const button = section.querySelector('.expand-operation');
  const open = isOpen(tag);
  section.classList.toggle('is-open', open);
  section.querySelector('.no-margin').hidden = open ? false : 'until-found';
  button.ariaExpanded = String(open);
  button.title = open ? 'Collapse operation' : 'Expand operation';
}

function setOpen(tag, open) {
  openTags.set(tag, open);
  showTag(tag);
}

async function filter() {
  const phrase = readPhrase();
  const ids =
    phrase && new Set(search(await loadIndex(), phrase).map(({ operation }) => operation.id));
  if (phrase !== readPhrase()) return;
  const isLeft = (element) => !phrase || element.querySelector('.opblock:not([hidden])') !== null;
  for (const operation of list.querySelectorAll('.opblock'))
    operation.hidden = phrase !== '' && !ids.has(operation.id.split('-').at(-1));
  for (const [tag, section] of tags) {
    section.hidden = !isLeft(section);
    showTag(tag);
  }
  for (const group of list.querySelectorAll('.group')) group.hidden = !isLeft(group);
  status.textContent = phrase && countText(ids.size);
}

/** Credentials that Swagger UI has kept from an earlier visit. */
function showAuthorized() {
  const authorized = Object.keys(JSON.parse(localStorage.getItem('authorized')) ?? {});
  for (const button of list.querySelectorAll('[data-schemes]')) {
    const schemes = button.dataset.schemes.split(' ');
    if (!authorized.some((scheme) => schemes.includes(scheme))) continue;
    for (const marked of [button, button.firstElementChild])
      if (marked.classList.contains('unlocked')) marked.classList.replace('unlocked', 'locked');
    button.querySelector('use').setAttribute('href', '#locked');
  }
}

const resolveUrl = (name) => new URL(name, import.meta.url).href;

/** The reader is about to need Swagger UI. */
function preload() {
  const { head } = document;
  if (head.querySelector('[rel=preload]')) return;
  const files = [
    ['preload', 'swagger-ui-bundle.js'],
    ['modulepreload', 'swagger.js'],
  ];
  for (const [rel, name] of files)
    head.append(
      Object.assign(document.createElement('link'), { rel, as: 'script', href: resolveUrl(name) }),
    );
}

let swagger;
/** Swagger UI in the place of the list. */
function takeOver() {
  swagger ??= (async () => {
    preload();
    const { startSwagger } = await import('./swagger.js');
    return startSwagger({ list, input, openTags });
  })();
  return swagger;
}

/** Until then, the control says that it waits. */
async function useSwagger(control, act) {
  control.ariaBusy = 'true';
  status.textContent = 'Loading …';
  try {
    act(await takeOver());
  } catch (error) {
    swagger = undefined;
    list.inert = false;
    control.ariaBusy = 'false';
    status.textContent = 'Swagger UI could not be loaded. Please try again.';
    console.error(error);
  }
}

/** `operation` is its element, here or in Swagger UI. */
function openOperation(operation) {
  const [, tag, id] = operation.id.split('-');
  return useSwagger(operation, ({ show }) => show(tag, id));
}

const click = (control) => useSwagger(control, ({ find }) => find(control).click());

list.addEventListener('click', (event) => {
  const { target } = event;
  const heading = target.closest('.opblock-tag');
  const operation = target.closest('.opblock');
  const authorization = target.closest('.authorize, .authorization__btn');
  if (authorization) return void click(authorization);
  if (operation) return void openOperation(operation);
  if (!heading) return;
  // Its link is for copying: the page stays where it is.
  event.preventDefault();
  setOpen(readTag(heading), !isOpen(readTag(heading)));
  preload();
});
for (const type of ['pointerover', 'focusin'])
  list.addEventListener(type, ({ target }) => {
    if (target.closest('.opblock, .authorize')) preload();
  });
list.addEventListener('beforematch', ({ target }) =>
  setOpen(readTag(target.previousElementSibling), true),
);
input.addEventListener('focus', () => void loadIndex());
input.addEventListener('input', () => void filter());

/** Follows a link to a tag or an operation: #/buyers/createBuyer */
function followLink() {
  const [, tag, id] = decodeURIComponent(location.hash).split('/');
  if (!tags.has(tag) || !list.isConnected) return;
  const find = () =>
    document.getElementById(id ? `operations-${tag}-${id}` : `operations-tag-${tag}`);
  setOpen(tag, true);
  find()?.scrollIntoView();
  if (id && find()) void openOperation(find()).then(() => find().scrollIntoView());
}
addEventListener('hashchange', followLink);

showAuthorized();
followLink();
if (input.value) void filter();
