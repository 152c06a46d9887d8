import type { Command } from 'commander';
import type { Schemas } from '../../platform/contract/contract';
import { findInvitationLink, type InvitationLink } from '../../domain/people/invitation-link';
import type { Installation } from '../../operate/installation/open';
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
    .description('make a user, and mail an invitation; without mail, print its link')
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
    permissions: [],
    superuser: true,
  };
  const invited = await withService(options, commandKey, async ({ ask }, installation) => {
    const { user } = await ask<Schemas['UserReply']>('POST', '/users', {
      email,
      name: options.name,
      team_ids: options.team,
    });
    return { user, link: installation && (await findLink(installation, user)) };
  });
  const { user, link } = invited;
  print(
    {
      id: user.id,
      email: user.email,
      name: user.name ?? '',
      invited: true,
      ...(link && { link: link.link, expires_at: link.expires_at }),
    },
    options.json,
  );
}

/** The link of the invitation, where the service sends no mail. */
const findLink = (
  { deps }: Installation,
  { id, company_id }: Schemas['User'],
): Promise<InvitationLink | undefined> | undefined =>
  deps.mailer.name === 'smtp'
    ? undefined
    : findInvitationLink(deps.tenants.of(BigInt(company_id!)), BigInt(id!), {
        ...deps,
        now: deps.clock(),
      });
