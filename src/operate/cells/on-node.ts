import { Client } from 'pg';
import { withClient } from '../../data/postgres/with-client';
import { withSettings } from './address';

/** Schema of the views and functions of a cell, on its node. */
export const localSchema = (schema: string): string => `${schema}_local`;

/** Schema of the sequences of a cell, on its node. */
export const idsSchema = (schema: string): string => `${schema}_ids`;

/** Schema of operator classes and functions of extensions. */
export const EXTENSIONS = 'extensions';

/** Schemas for names on the node of a cell, in the order of lookup. */
export const listNodeSchemas = (schema: string): string[] => [
  localSchema(schema),
  idsSchema(schema),
  schema,
  EXTENSIONS,
];

/** Settings of sessions whose commands concern only the node, and that see its shards. */
export const ON_NODE = {
  timezone: 'UTC',
  client_min_messages: 'warning',
  'citus.enable_ddl_propagation': 'off',
  'citus.override_table_visibility': 'off',
};

/** Runs commands that concern only a node; names are looked up in the schemas of a cell. */
export async function runOnNode<T>(
  url: string,
  schema: string,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const searchPath = listNodeSchemas(schema).join();
  const client = new Client(withSettings(url, { ...ON_NODE, search_path: searchPath }));
  return withClient(client, work);
}
