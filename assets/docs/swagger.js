// Swagger UI for this contract: groups of tags, a search in everything, short lists of answers.
/* global SwaggerUIBundle */
import { loadIndex, search } from './search.js';

const USUAL_SCHEMES = ['companyKey', 'userToken', 'authToken'];

let index;
/** The ids of the operations that a filter leaves; all until the index is there. */
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
    layoutSelectors.isShown(thing, initially || readPhrase(system) !== '');
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
  const { createElement, useEffect, useState } = system.React;
  const [, setLoaded] = useState(Boolean(index));
  useEffect(() => void loading.then(() => setLoaded(true)), []);
  const phrase = readPhrase(system);
  const count = phrase && index ? findIds(phrase).size : undefined;
  return createElement(
    'div',
    { className: 'filter-box' },
    createElement('input', {
      type: 'search',
      className: 'operation-filter-input',
      placeholder: 'Search operations, parameters and fields: caps, opt out, …',
      'aria-label': 'Search operations, parameters and fields',
      defaultValue: phrase,
      onChange: ({ target }) => system.layoutActions.updateFilter(target.value || true),
    }),
    createElement(
      'p',
      { role: 'status' },
      count === undefined ? '' : `${count} ${count === 1 ? 'operation' : 'operations'}`,
    ),
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
function emptyForms(system) {
  const { getSampleSchema } = system.fn;
  this.fn.getSampleSchema = (schema, mediaType, ...more) => {
    if (mediaType !== false) return getSampleSchema(schema, mediaType, ...more);
    const { type } = schema?.toJS?.() ?? schema ?? {};
    return [type].flat().includes('array') ? [] : '';
  };
}

/** Another media type begins with its own example: the fields of a form are no JSON. */
const newBody = (setType, system) => (change) => {
  setType(change);
  const { pathMethod } = change;
  system.oas3Actions.setRequestBodyValue({ value: undefined, pathMethod });
};

const plugin = () => ({
  afterLoad: emptyForms,
  statePlugins: { oas3: { wrapActions: { setRequestContentType: newBody } } },
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

if (matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.classList.add('dark-mode');

const loading = loadIndex().then((loaded) => (index = loaded));

SwaggerUIBundle({
  url: '/api/docs/openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  persistAuthorization: true,
  displayRequestDuration: true,
  docExpansion: 'none',
  defaultModelsExpandDepth: -1,
  filter: true,
  tryItOutEnabled: true,
  validatorUrl: null,
  plugins: [plugin],
});
