import type { Sql } from '../db/sql';
import { StartError } from '../start-error';
import type { Node } from './address';
import { FIND_NODE_OF_SCHEMA, LIST_DATA_NODES, LIST_NODES } from './queries/cluster';

/** The group of the coordinator, for Citus. */
export const COORDINATOR = 0;

/** All nodes of the cluster, also those that hold no data. */
export const listNodes = (sql: Sql): Promise<Node[]> => sql(LIST_NODES, {});

/** The nodes that hold data. */
export const dataNodes = (sql: Sql): Promise<Node[]> => sql(LIST_DATA_NODES, {});

export async function coordinatorOf(sql: Sql): Promise<Node> {
  return (await listNodes(sql)).find(({ groupid }) => groupid === COORDINATOR)!;
}

/** The node that has the tables of a schema. */
export async function nodeOf(sql: Sql, schema: string): Promise<Node | undefined> {
  const [node] = await sql(FIND_NODE_OF_SCHEMA, { schema });
  return node;
}

/** The same; throws where there is none. */
export async function placeOf(sql: Sql, schema: string): Promise<Node> {
  const node = await nodeOf(sql, schema);
  if (!node) throw new StartError(`There is no cell ${schema}.`);
  return node;
}

/** What operators call a node. */
export const nameOf = ({ host, port }: Pick<Node, 'host' | 'port'>): string => `${host}:${port}`;

/** The node that an operator names as HOST:PORT. */
export async function namedNode(sql: Sql, name: string): Promise<Node> {
  const nodes = await dataNodes(sql);
  const node = nodes.find((each) => nameOf(each) === name);
  if (node) return node;
  const known = nodes.map(nameOf).join(', ');
  throw new StartError(`The cluster has no node ${name} that holds data. It has: ${known}`);
}
