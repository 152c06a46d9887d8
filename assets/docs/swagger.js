// Swagger UI for this contract: groups of tags, a search in everything, short lists of answers. It
// comes in the place of the list that the server has sent (list.js).
/* global SwaggerUIBundle */
import { countText, loadIndex, search } from './search.js';

const USUAL_SCHEMES = ['companyKey', 'userToken', 'authToken'];

/** Loaded before there is a phrase. */
let index;
/** The tags that are open, or not, before Swagger UI changes them. */
let initialTags;

/** The ids of the operations that a filter leaves. */
function findIds(phrase) {
  return index && new Set(search(index, phrase).map(({ operation }) => operation.id));
}

function filtered(tags, phrase) {
  const ids = findIds(phrase);
  if (!ids) return tags;
  const left = (operation) => ids.has(operation.getIn(['operation', 'operationId']));
  return tags
    .map((tag) => tag.update('operations', (operations) => operations.filter(left)))
    .filter((tag) => tag.get('operations').size > 0);
}

const readPhrase = (system) => {
  const phrase = system.layoutSelectors.currentFilter();
  return typeof phrase === 'string' ? phrase.trim() : '';
};

let shown = { key: '', tags: new Set() };
/** The tags that a filter leaves. */
function shownTags(system) {
  const key = `${Boolean(index)} ${readPhrase(system)}`;
  if (shown.key !== key || shown.tags.size === 0)
    shown = { key, tags: new Set(system.specSelectors.taggedOperations().keySeq()) };
  return shown.tags;
}

/** The group that begins with a tag, among the tags that are shown. */
function groupAt(system, tag) {
  const groups = system.specSelectors.specJson().get('x-tagGroups')?.toJS() ?? [];
  const group = groups.find(({ tags }) => tags.includes(tag));
  const first = group?.tags.find((name) => shownTags(system).has(name));
  return first === tag ? group.name : undefined;
}

const isError = (code) => /^[45]|default/.test(String(code));

/** A tag, after the name of its group. What a search leaves of it is open. */
const groups = (Original, system) => (props) => {
  const { createElement, Fragment } = system.React;
  const group = groupAt(system, props.tag);
  const { layoutSelectors } = props;
  const isShown = (thing, initially) =>
    layoutSelectors.isShown(
      thing,
      initialTags.get(props.tag) ?? (initially || readPhrase(system) !== ''),
    );
  return createElement(
    Fragment,
    null,
    group && createElement('h2', { className: 'tag-group' }, group),
    createElement(Original, { ...props, layoutSelectors: { ...layoutSelectors, isShown } }),
  );
};

/** An error is one line until somebody asks for its body. */
const shortErrors = (Original, system) => (props) => {
  const { createElement, useState } = system.React;
  const [open, setOpen] = useState(false);
  if (open || !isError(props.code)) return createElement(Original, props);
  const response = props.response?.toJS?.() ?? {};
  return createElement(
    'tr',
    { className: 'response short-error', 'data-code': props.code },
    createElement('td', { className: 'response-col_status' }, props.code),
    createElement(
      'td',
      { colSpan: 2 },
      createElement(
        'button',
        { type: 'button', 'aria-expanded': false, onClick: () => setOpen(true) },
        (response.description ?? '').split(/(?<=\.)\s/)[0] || 'Error',
      ),
    ),
  );
};

const filterBox = (_Original, system) => () => {
  const { createElement } = system.React;
  const phrase = readPhrase(system);
  const count = phrase && findIds(phrase).size;
  const find = async (value) => {
    index = await loadIndex();
    system.layoutActions.updateFilter(value || true);
  };
  return createElement(
    'div',
    { className: 'filter-box' },
    createElement('input', {
      type: 'search',
      className: 'operation-filter-input',
      placeholder: 'Search operations, parameters and fields: caps, opt out, …',
      'aria-label': 'Search operations, parameters and fields',
      defaultValue: phrase,
      onFocus: () => void loadIndex(),
      onChange: ({ target }) => void find(target.value),
    }),
    createElement('p', { role: 'status' }, phrase && countText(count)),
  );
};

/** The tokens of landing pages, sellers, invitations and carriers are folded away. */
const foldedScheme = (Original, system) => (props) => {
  const { createElement } = system.React;
  const name = props.definitions.keySeq().first();
  const scheme = createElement(Original, props);
  if (USUAL_SCHEMES.includes(name)) return scheme;
  const summary = createElement('summary', null, `Other: ${name}`);
  return createElement('details', { className: 'other-scheme' }, summary, scheme);
};

/** The dialog opens at its first field, with the usual schemes first. */
const usualFirst = (Original, system) => (props) => {
  const { createElement, useEffect } = system.React;
  useEffect(() => {
    document.querySelector('.modal-ux input')?.focus();
    document.querySelector('.modal-ux-content')?.scrollTo(0, 0);
  }, []);
  const rank = (definition) => {
    const at = USUAL_SCHEMES.indexOf(definition.keySeq().first());
    return at < 0 ? USUAL_SCHEMES.length : at;
  };
  const shownDefinitions = () => props.authSelectors.shownDefinitions()?.sortBy(rank);
  const authSelectors = { ...props.authSelectors, shownDefinitions };
  return createElement(Original, { ...props, authSelectors });
};

/**
 * The fields of a form are empty, and lists in them: Swagger UI would send "string" for each. For
 * fields of a form it names no media type.
 */
const sampleForm =
  (getSampleSchema) =>
  (schema, mediaType, ...more) => {
    if (mediaType !== false) return getSampleSchema(schema, mediaType, ...more);
    const { type } = schema?.toJS?.() ?? schema ?? {};
    return [type].flat().includes('array') ? [] : '';
  };

async function loadDocument(path) {
  const response = await fetch(path);
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return response.json();
}

/** An operation is resolved in its own document: in the whole contract it takes seconds. */
const resolveOperation = (resolveSubtree) => async (list, keys, options) => {
  const [, path, method] = keys;
  const id = list.paths[path]?.[method]?.operationId;
  const document = id ? await loadDocument(`/api/docs/operations/${id}.json`) : list;
  return resolveSubtree(document, keys, options);
};

function replaceFunctions({ fn: { getSampleSchema, resolveSubtree } }) {
  this.fn.getSampleSchema = sampleForm(getSampleSchema);
  this.fn.resolveSubtree = resolveOperation(resolveSubtree);
}

/** Another media type begins with its own example: the fields of a form are no JSON. */
const newBody = (setType, system) => (change) => {
  setType(change);
  const { pathMethod } = change;
  system.oas3Actions.setRequestBodyValue({ value: undefined, pathMethod });
};

const plugin = () => ({
  afterLoad: replaceFunctions,
  statePlugins: {
    oas3: { wrapActions: { setRequestContentType: newBody } },
    // Links are followed by list.js.
    layout: { wrapActions: { scrollToElement: () => () => undefined } },
  },
  fn: { opsFilter: filtered },
  wrapComponents: {
    InfoContainer: () => () => null,
    OperationTag: groups,
    response: shortErrors,
    FilterContainer: filterBox,
    auths: foldedScheme,
    authorizationPopup: usualFirst,
  },
});

function loadBundle() {
  return new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = new URL('swagger-ui-bundle.js', import.meta.url).href;
    script.onload = resolve;
    script.onerror = () => reject(new Error(`${script.src} could not be loaded`));
    document.head.append(script);
  });
}

/** Resolves when a node has an element. */
const waitFor = (node, selector) =>
  new Promise((resolve) => {
    const observer = new MutationObserver(() => {
      if (!node.querySelector(selector)) return;
      observer.disconnect();
      resolve();
    });
    observer.observe(node, { subtree: true, childList: true });
  });

const CONTROLS = [
  ...['operation-filter-input', 'authorize', 'expand-operation'],
  ...['opblock-summary-control', 'authorization__btn'],
];

/** Starts with the tags, the search and the focus of the list, and replaces it. */
export async function startSwagger({ list, input, openTags }) {
  const [spec] = await Promise.all([loadDocument('/api/docs/openapi.json'), loadBundle()]);
  if (input.value.trim()) index = await loadIndex();
  initialTags = openTags;
  const focusedControl = document.activeElement;
  // While Swagger UI draws: a change would be lost.
  list.inert = true;
  const node = document.createElement('div');
  const { layoutActions, layoutSelectors } = SwaggerUIBundle({
    spec,
    domNode: node,
    filter: (index && input.value.trim()) || true,
    deepLinking: true,
    persistAuthorization: true,
    displayRequestDuration: true,
    docExpansion: 'none',
    defaultModelsExpandDepth: -1,
    tryItOutEnabled: true,
    validatorUrl: null,
    plugins: [plugin],
  });
  await waitFor(node, '#operations');
  /** Swagger UI's element for a control of the list. */
  const find = (control) => {
    const owner = control.closest('.opblock, .opblock-tag');
    const name = CONTROLS.find((className) => control.classList.contains(className));
    return name && node.querySelector(`${owner ? `#${owner.id} ` : ''}.${name}`);
  };
  const isFocused = list.contains(focusedControl);
  list.replaceWith(node);
  if (isFocused) find(focusedControl)?.focus({ preventScroll: true });
  const show = (...operation) => {
    const shownKey = ['operations', ...operation];
    // Swagger UI has opened it if the address names it.
    if (!layoutSelectors.isShown(shownKey)) layoutActions.show(shownKey, true);
  };
  return { find, show };
}
