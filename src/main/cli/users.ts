import type { Command } from 'commander';
import type { Schemas } from '../../platform/contract/contract';
import { parseCompanyId, requireCompany, json, print } from './command';
import { withService, withServiceOptions, type ServiceOptions } from './service';

interface InviteOptions extends ServiceOptions {
  company?: number;
  name?: string;
  team?: string[];
  json: boolean;
}

export function addUserCommands(program: Command): void {
  const invite = program
    .command('user')
    .description('the people who work with a company')
    .command('invite')
    .description('make a user, and mail an invitation with which the user makes a token')
    .argument('<email>', 'the address of the user')
    .option('--name <name>', 'the name of the user')
    .option('--team <id...>', 'teams, by id or uuid: without one, a user may do nothing')
    .option('--company <id>', 'company; not needed where there is only one', parseCompanyId);
  withServiceOptions(invite).addOption(json()).action(runInvite);
}

async function runInvite(email: string, options: InviteOptions): Promise<void> {
  const commandKey = {
    company: (installation: Parameters<typeof requireCompany>[0]) =>
      requireCompany(installation, options.company),
    name: `Invitation of ${email}`,
    permissions: ['users:create', 'access_control_lists:update', 'access_control_lists:read'],
  };
  const { user } = await withService(options, commandKey, ({ ask }) =>
    ask<Schemas['UserReply']>('POST', '/users', {
      email,
      name: options.name,
      team_ids: options.team,
    }),
  );
  print({ id: user.id, email: user.email, name: user.name ?? '', invited: true }, options.json);
}
