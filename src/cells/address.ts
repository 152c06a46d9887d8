/** A node of the cluster, as the coordinator knows it. */
export interface Node {
  groupid: number;
  host: string;
  port: number;
}

/** The same database, user and parameters on a node. */
export function urlOfNode(coordinator: string, { host, port }: Node): string {
  const url = new URL(coordinator);
  url.searchParams.delete('host');
  url.searchParams.delete('port');
  url.hostname = host.includes(':') ? `[${host}]` : host;
  url.port = String(port);
  return url.href;
}

/** The same URL with settings of the sessions, in addition to those that it has. */
export function withSettings(url: string, settings: Record<string, string>): string {
  const changed = new URL(url);
  const own = changed.searchParams.get('options') ?? '';
  const added = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`);
  changed.searchParams.set('options', [own, ...added].filter(Boolean).join(' '));
  return changed.href;
}
