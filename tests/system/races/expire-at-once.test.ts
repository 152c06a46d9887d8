import { twoServers } from '../../support/two-servers';

// The attack: submissions of one number that end the earlier leads, all at once. Those that waited
// for one another found the lead that the first had made, and became part of it: two submissions
// shared a lead.

const here = twoServers();

type Fields = Record<string, unknown>;
const SUBMISSIONS = 20;

/** Submits at once, through both servers in turn, and returns the answers. */
async function submitAtOnce(fields: Fields, more: (n: number) => Fields) {
  const all = Array.from({ length: SUBMISSIONS }, async (_, n) => {
    const data = { [`n${n}`]: n };
    const res = await here.send(n % 2, 'POST', 'leads', { ...fields, ...more(n), data });
    return { n, status: res.status, body: (await res.json()) as { id: number } };
  });
  return Promise.all(all);
}

const createLeadToken = async (path: string, root: string, body: Fields): Promise<string> =>
  (await here.world.company.api('post', path, { body })).body[root].lead_token;
const leads = (callerNumber: string) =>
  here.world.sql<{ id: number; data: Fields; is_live: boolean; is_deleted: boolean }>(
    `SELECT id::float8 AS id, data, is_live, deleted_at IS NOT NULL AS is_deleted
    FROM leads WHERE caller_number = $1 ORDER BY id`,
    [callerNumber],
  );

test.each([
  ['schedules', 'schedule', 'expire_existing', '13105550161'],
  ['schedules', 'schedule', 'delete_existing', '13105550162'],
  ['offers', 'offer', 'delete_existing', '13105550163'],
])('at %s, each %s submission with %s makes a lead of its own', async (...row) => {
  const [path, root, option, callerId] = row;
  const leadToken = await createLeadToken(path, root, { name: 'Auto' });
  const submissions = await submitAtOnce({ lead_token: leadToken, caller_id: callerId }, () => ({
    [option]: true,
  }));
  expect(submissions.map(({ status }) => status)).toEqual(submissions.map(() => 201));
  const storedLeads = await leads(callerId);
  expect(storedLeads.map(({ id }) => id)).toEqual(
    submissions.map(({ body }) => body.id).toSorted((a, b) => a - b),
  );
  for (const { n, body } of submissions)
    expect(storedLeads.find(({ id }) => id === body.id)!.data).toEqual({ [`n${n}`]: n });
  expect(storedLeads.filter(({ is_live }) => is_live)).toHaveLength(1);
});

test('also where others that end nothing are submitted at the same time', async () => {
  const leadToken = await createLeadToken('schedules', 'schedule', { name: 'Auto' });
  const callerId = '13105550164';
  const expires = (n: number) => n % 3 > 0;
  const submissions = await submitAtOnce({ lead_token: leadToken, caller_id: callerId }, (n) => ({
    expire_existing: expires(n),
  }));
  const expiringSubmissions = submissions.filter(({ n }) => expires(n));
  expect(expiringSubmissions.map(({ status }) => status)).toEqual(
    expiringSubmissions.map(() => 201),
  );
  expect(new Set(expiringSubmissions.map(({ body }) => body.id)).size).toBe(
    expiringSubmissions.length,
  );
});
