import { createRunners } from '../../../src/main/background/runners';
import type { Mail } from '../../../src/platform/mail/mailer';
import { onCluster, onDistributedDatabases } from '../../support/citus';
import { createWorld, type World } from '../../support/world';

// Cells of one node share its queue: a job may be run by the worker of another cell than that of
// its company.

onCluster(() => {
  let world: World;
  beforeAll(async () => {
    onDistributedDatabases();
    world = await createWorld();
    await world.addCompany('In the other cell');
  });
  afterAll(() => world.close());

  test('an invitation is mailed by the worker of any cell', async () => {
    const response = await world.company.api('post', 'users', {
      body: { email: 'new@example.com' },
    });
    const payload = {
      company_id: String(world.company.id),
      user_id: String(response.body.user.id),
      number: 1,
    };
    const mails: Mail[] = [];
    const mailer = {
      ...world.deps.mailer,
      send: async (mail: Mail) => (mails.push(mail), { ok: true as const, message_id: mail.key }),
    };
    const context = { job_id: 'x', signal: new AbortController().signal };
    const parts = world.deps.parts();
    for (const part of parts)
      await createRunners({ ...part, mailer }).send_invitation(payload, context);
    expect(parts).toHaveLength(2);
    expect(mails.map(({ to }) => to)).toEqual(['new@example.com', 'new@example.com']);
  });

  test('the numbers of a list are erased by the worker of any cell', async () => {
    const { api, id: company } = world.company;
    const { body } = await api('post', 'buyer_suppressions', { body: { name: 'List' } });
    const list = body.buyer_suppression.id as number;
    const count = async () =>
      (
        await world.sql<{ n: number }>(
          `SELECT count(*)::int AS n FROM buyer_suppression_numbers
          WHERE company_id = $1 AND buyer_suppression_id = $2`,
          [company, list],
        )
      )[0]!.n;
    await api('post', `buyer_suppressions/${list}/caller_block`, {
      body: { caller_ids: ['+13105550100', '+13105550101'] },
    });
    expect(await count()).toBe(2);
    await api('delete', `buyer_suppressions/${list}`);
    const payload = { company_id: String(company), id: String(list) };
    const context = { job_id: 'x', signal: new AbortController().signal };
    // The last cell is not that of the company.
    await createRunners(world.deps.parts().at(-1)!).erase_suppression_list(payload, context);
    expect(await count()).toBe(0);
  });
});
