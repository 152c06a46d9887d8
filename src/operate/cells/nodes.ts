import type { Sql } from '../../data/sql';
import { StartError } from '../../platform/start-error';
import type { Node } from './address';
import { FIND_NODE_OF_SCHEMA, LIST_DATA_NODES, LIST_NODES } from './queries/cluster';

/** Group id of the coordinator in Citus. */
export const COORDINATOR = 0;

/** All nodes of the cluster, including those without data. */
export const listNodes = (sql: Sql): Promise<Node[]> => sql(LIST_NODES, {});

export const listDataNodes = (sql: Sql): Promise<Node[]> => sql(LIST_DATA_NODES, {});

export async function findCoordinator(sql: Sql): Promise<Node> {
  return (await listNodes(sql)).find(({ groupid }) => groupid === COORDINATOR)!;
}

/** The node with the tables of a schema. */
export async function findNode(sql: Sql, schema: string): Promise<Node | undefined> {
  const [node] = await sql(FIND_NODE_OF_SCHEMA, { schema });
  return node;
}

/** Throws StartError if no node has the tables of the schema. */
export async function requireNode(sql: Sql, schema: string): Promise<Node> {
  const node = await findNode(sql, schema);
  if (!node) throw new StartError(`There is no cell ${schema}.`);
  return node;
}

/** Name of a node for operators. */
export const formatNodeName = ({ host, port }: Pick<Node, 'host' | 'port'>): string =>
  `${host}:${port}`;

/** The data node that an operator names as HOST:PORT. Throws StartError if there is none. */
export async function requireDataNode(sql: Sql, name: string): Promise<Node> {
  const nodes = await listDataNodes(sql);
  const node = nodes.find((candidate) => formatNodeName(candidate) === name);
  if (node) return node;
  const nodeNames = nodes.map(formatNodeName).join(', ');
  throw new StartError(`The cluster has no node ${name} that holds data. It has: ${nodeNames}`);
}
