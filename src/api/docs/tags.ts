import { contract, METHODS, type Method } from '../../platform/contract/contract';

export interface PageOperation {
  operationId?: string;
  tags: string[];
  summary?: string;
  description?: string;
  security?: Record<string, unknown>[];
  'x-scope'?: string;
  'x-unlimited'?: boolean;
  'x-credentials'?: string;
  callbacks?: Record<string, Paths>;
}

export type Paths = Record<string, Partial<Record<Method, PageOperation>>>;

interface PageDocument {
  info: { title: string; version: string; summary?: string; description?: string };
  tags: { name: string; description?: string }[];
  'x-tagGroups'?: { name: string; tags: string[] }[];
  security: Record<string, unknown>[];
  paths: Paths;
  components: { securitySchemes: object };
}

export const pageDocument = contract.document as unknown as PageDocument;

/** The events that callbacks describe, each with the name of its trigger. */
export const listEvents = (paths: Paths): Paths =>
  Object.fromEntries(
    Object.values(paths)
      .flatMap((item) => Object.values(item))
      .flatMap(({ callbacks = {} }) => Object.entries(callbacks))
      .map(([name, urls]) => [name, Object.values(urls)[0]!]),
  );

export interface Tag {
  name: string;
  /** buyer_groups is shown as "Buyer groups". */
  title: string;
  description: string;
  operations: ListedOperation[];
}

export interface ListedOperation {
  id: string;
  method: Method;
  /** Without the base path; the name of an event. */
  path: string;
  is_event: boolean;
  /** The id that RapiDoc gives its element. */
  anchor: string;
  operation: PageOperation;
}

export interface Group {
  name: string;
  tags: Tag[];
}

const toTitle = (name: string): string => {
  const words = name.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
};

const buildAnchor = (method: string, path: string): string =>
  `${method}-${path.replace(/[\s#:?&={}]/g, '-')}`;

function listOperations(paths: Paths, isEvent: boolean): ListedOperation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      if (!operation) return [];
      const id = operation.operationId ?? path;
      return [
        { id, method, path, is_event: isEvent, anchor: buildAnchor(method, path), operation },
      ];
    }),
  );
}

/** All operations in the order of the contract, then the events it sends. */
export const OPERATIONS: ListedOperation[] = [
  ...listOperations(pageDocument.paths, false),
  ...listOperations(listEvents(pageDocument.paths), true),
];

const buildTag = ({ name, description = '' }: PageDocument['tags'][number]): Tag => ({
  name,
  title: toTitle(name),
  description,
  operations: OPERATIONS.filter(({ operation }) => operation.tags[0] === name),
});

const TAGS = new Map(pageDocument.tags.map((tag) => [tag.name, buildTag(tag)]));

/** Tags in the order in which a newcomer needs them; those of no group at the end. */
export const GROUPS: Group[] = (() => {
  const groups = pageDocument['x-tagGroups'] ?? [];
  const grouped = new Set(groups.flatMap(({ tags }) => tags));
  const rest = [...TAGS.keys()].filter((name) => !grouped.has(name));
  return [...groups, ...(rest.length > 0 ? [{ name: 'More', tags: rest }] : [])].map(
    ({ name, tags }) => ({ name, tags: tags.flatMap((tag) => TAGS.get(tag) ?? []) }),
  );
})();

export const ORDERED_TAGS: Tag[] = GROUPS.flatMap(({ tags }) => tags);
