export interface Node {
  groupid: number;
  host: string;
  port: number;
}

/** URL of a node, with the database, user and parameters of the coordinator. */
export function buildNodeUrl(coordinator: string, { host, port }: Node): string {
  const url = new URL(coordinator);
  url.searchParams.delete('host');
  url.searchParams.delete('port');
  url.hostname = host.includes(':') ? `[${host}]` : host;
  url.port = String(port);
  return url.href;
}

/** Adds settings of the sessions to those that a URL has. */
export function withSettings(url: string, settings: Record<string, string>): string {
  const changed = new URL(url);
  const existingOptions = changed.searchParams.get('options') ?? '';
  const added = Object.entries(settings).map(([name, value]) => `-c ${name}=${value}`);
  changed.searchParams.set('options', [existingOptions, ...added].filter(Boolean).join(' '));
  return changed.href;
}
