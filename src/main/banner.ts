import { isIPv6 } from 'node:net';
import { join, resolve } from 'node:path';
import type { Config } from '../platform/config';
import { describeNodeSupport } from '../platform/node-support';
import { contract } from '../platform/contract/contract';
import { buildOwnerLink } from '../domain/people/console-links';
import type { NewCompany } from '../operate/installation/create-company';
import type { FirstStart } from './demo/demo';
import { describeDatabase, type Installation } from '../operate/installation/open';

const NO_COMPANY = 'There is no company yet. Make one: npx trunkline company create --name NAME';
const NEW_CREDENTIALS = [
  'Found its data; credentials are as before. ' +
    'New ones: npx trunkline key create --name NAME --superuser',
  'A link to become an owner at the console: npx trunkline owner link',
];

export function banner(
  config: Config,
  { migrated }: Installation,
  { demo, is_empty }: FirstStart,
): string {
  const { port, host, run_jobs, web_concurrency } = config;
  const name = isIPv6(host) ? `[${host}]` : host;
  const url = `http://${host === '0.0.0.0' || host === '::' ? 'localhost' : name}:${port}`;
  const nodeSupport = describeNodeSupport();
  const lines = [
    '',
    'Trunkline is up.',
    `Console: ${url}/console/`,
    `Docs: ${url}/api/docs/`,
    `Version: ${contract.document.info.version}`,
    `Database: ${describeDatabase(config)}`,
    ...(web_concurrency > 1 ? [`Processes that answer requests: ${web_concurrency}`] : []),
    ...(migrated.length > 0 ? [`Database ready, ${countMigrations(migrated.length)} applied`] : []),
    ...(nodeSupport === undefined ? [] : [nodeSupport]),
    ...(run_jobs ? [] : ['Imports, and the schedules of leads, are left to: npm run worker']),
    ...(demo || is_empty ? pepperLines(config) : []),
    ...(demo ? demoLines(demo, config, url) : []),
    ...(!demo && is_empty ? [NO_COMPANY] : []),
    ...(!demo && !is_empty ? NEW_CREDENTIALS : []),
  ];
  return `${lines.join('\n')}\n\n`;
}

const countMigrations = (count: number) => (count === 1 ? '1 migration' : `${count} migrations`);

const pepperLines = ({ key_pepper, data_dir }: Config): string[] =>
  key_pepper === undefined
    ? [`Keep ${join(resolve(data_dir), 'key_pepper')}: without it, no credential works.`]
    : [];

function demoLines(
  { credentials, owner_token }: NewCompany,
  { public_url, public_url_is_set }: Config,
  url: string,
): string[] {
  const { public_key, private_key } = credentials;
  const buyers = `${url}/api/v1/buyers?columns=id,name,number,paused`;
  return [
    '',
    'A demo company was made (without one: DEMO=false). Become its owner by this link, once:',
    `  ${buildOwnerLink({ public_url: public_url_is_set ? public_url : url }, owner_token)}`,
    '',
    'Its key pair, shown this once:',
    `  public key   ${public_key}`,
    `  private key  ${private_key}`,
    '',
    'Try:',
    `  curl -s -u ${public_key}:${private_key} '${buyers}'`,
  ];
}
