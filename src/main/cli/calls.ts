import type { Command } from 'commander';
import type { Schemas } from '../../platform/contract/contract';
import { parseCompanyId, requireCompany, json, print } from './command';
import { withService, withServiceOptions, type Service, type ServiceOptions } from './service';

interface ExplainOptions extends ServiceOptions {
  company?: number;
  caller?: string;
  called?: string;
  at?: string;
  source?: string;
  token: Record<string, string>;
  json: boolean;
}

export function addCallCommands(program: Command): void {
  const explain = program
    .command('explain')
    .description('say which buyers a call would go to, and why the others would not get it')
    .argument('<offer_id>', 'id, uuid or user_offer_id of the offer')
    .option('--caller <number>', 'the number of the caller; without it, withheld')
    .option('--called <number>', 'the number called')
    .option('--at <time>', 'ISO 8601 time of the call; without it, now')
    .option('--source <id>', 'the traffic source')
    .option('--token <name=value...>', 'tokens of the call', addToken, {})
    .option('--company <id>', 'company; not needed where there is only one', parseCompanyId);
  withServiceOptions(explain).addOption(json()).action(runExplain);

  const caps = program
    .command('caps')
    .description('list the caps of buyers and groups, with what is used and left of each')
    .option('--full', 'only those that are used up', false)
    .option('--company <id>', 'company; not needed where there is only one', parseCompanyId);
  withServiceOptions(caps).addOption(json()).action(runCaps);
}

function addToken(text: string, tokens: Record<string, string>): Record<string, string> {
  const [name, ...value] = text.split('=');
  return { ...tokens, [name!]: value.join('=') };
}

async function runExplain(offerId: string, options: ExplainOptions): Promise<void> {
  const { decision } = await withService(
    options,
    buildCommandKey(options, ['calls:read', 'leads:read']),
    (service) =>
      service.ask<Schemas['RoutingExplanation']>('POST', '/routing/explain', {
        offer_id: offerId,
        caller_number: options.caller,
        number_called: options.called,
        at: options.at,
        traffic_source_id: options.source,
        tokens: options.token,
      }),
  );
  if (options.json) return print(decision, true);
  const { action, message, buyer_ids, at, seed, candidates } = decision;
  print({ action, ...(message && { why: message }), buyers: buyer_ids, at, seed }, false);
  process.stdout.write('\n');
  print(candidates.map(candidateRow), false);
}

const candidateRow = ({
  buyer_id,
  name,
  rank,
  tier,
  weight,
  message,
}: Schemas['ConsideredBuyer']) => ({
  buyer: buyer_id,
  name,
  rank,
  tier,
  weight,
  why: message ?? 'can take the call',
});

interface CapsOptions extends ServiceOptions {
  company?: number;
  full: boolean;
  json: boolean;
}

async function runCaps(options: CapsOptions): Promise<void> {
  const commandKey = buildCommandKey(options, ['buyers:read', 'buyer_groups:read']);
  const caps = await withService(options, commandKey, async ({ ask }) => [
    ...(await listCaps(ask, '/buyers', 'buyers')),
    ...(await listCaps(ask, '/buyer_groups', 'buyer_groups')),
  ]);
  print(options.full ? caps.filter(({ left }) => left <= 0) : caps, options.json);
}

const buildCommandKey = ({ company }: { company?: number }, permissions: string[]) => ({
  company: (installation: Parameters<typeof requireCompany>[0]) =>
    requireCompany(installation, company),
  name: 'trunkline, on the command line',
  permissions,
});

interface Cap {
  owner: string;
  name: string;
  cap: string;
  used: number;
  limit: number;
  left: number;
}

type Page = Record<string, unknown> & { metadata: { next_cursor: number } };
type Capped = { id: number; type: string; name: string | null } & Record<string, unknown>;

/** The caps of all records of a list, each a pair of columns `…_limit` and `…_used`. */
async function listCaps(ask: Service['ask'], path: string, root: string): Promise<Cap[]> {
  const caps: Cap[] = [];
  for (let cursor = -1; cursor !== 0;) {
    const page = await ask<Page>('GET', `${path}?per_page=1000&cursor=${cursor}`);
    caps.push(...(page[root] as Capped[]).flatMap(readCaps));
    cursor = page.metadata.next_cursor;
  }
  return caps;
}

const readCaps = (record: Capped): Cap[] =>
  Object.keys(record).flatMap((column) => {
    const cap = /^(.+)_limit$/.exec(column)?.[1];
    const [limit, used] = [record[column], record[`${cap}_used`]];
    if (cap === undefined || typeof limit !== 'number' || typeof used !== 'number') return [];
    const owner = `${record.type} ${record.id}`;
    return [{ owner, name: record.name ?? '', cap, used, limit, left: limit - used }];
  });
