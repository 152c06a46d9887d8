const BROWSERS = ['Edg', 'OPR', 'Firefox', 'Chrome', 'Safari'];
const NAMES: Readonly<Record<string, string>> = { Edg: 'Edge', OPR: 'Opera' };
const SYSTEMS = ['iPhone', 'iPad', 'Android', 'Windows', 'Mac', 'Linux'];

/** The name of a browser and its system, for people; programs say something else. */
export function describeBrowser(agent: string): string {
  const browser = BROWSERS.find((name) => agent.includes(`${name}/`));
  const system = SYSTEMS.find((name) => agent.includes(name));
  if (!browser) return agent;
  return [NAMES[browser] ?? browser, system].filter(Boolean).join(' on ');
}
