import { Client } from 'pg';
import { withClient } from '../db/with-client';
import { withSettings } from './address';

/** The schema with the views and functions of a cell, on the node that has it. */
export const localSchema = (schema: string): string => `${schema}_local`;

/** The schema with the sequences of a cell, on the node that has it. */
export const idsSchema = (schema: string): string => `${schema}_ids`;

/** Where operator classes and functions of extensions are. */
export const EXTENSIONS = 'extensions';

/** In which schemas names are looked up on the node of a cell, the first one first. */
export const schemasOnNode = (schema: string): string[] => [
  localSchema(schema),
  idsSchema(schema),
  schema,
  EXTENSIONS,
];

/** Settings of sessions whose commands concern a node alone, and that see its shards. */
export const ON_NODE = {
  timezone: 'UTC',
  client_min_messages: 'warning',
  'citus.enable_ddl_propagation': 'off',
  'citus.override_table_visibility': 'off',
};

/** Runs commands that concern a node alone; names are looked up in the schemas of a cell. */
export async function onNode<T>(
  url: string,
  schema: string,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const search_path = schemasOnNode(schema).join();
  const client = new Client(withSettings(url, { ...ON_NODE, search_path }));
  return withClient(client, work);
}
