import { setTimeout } from 'node:timers/promises';
import request from 'supertest';
import { deleteExpired } from '../../../src/main/background/delete-expired';
import { listFaults } from '../../../src/main/background/list-faults';
import { endStaleCalls } from '../../../src/domain/calls/end-stale-calls';
import { repeat } from '../../../src/data/jobs/loop';
import { fanOutWebhookEvents } from '../../../src/domain/webhooks/fan-out-events';
import { FAR_MS } from '../../support/patience';
import { createRecord, nextNumber } from '../../support/records';
import { useWorld } from '../../support/use-world';
import type { Company } from '../../support/world';

// Background work for all companies is done in portions that commit. A failure for one record or
// one company does not stop the others, and is shown.

const world = useWorld({ fresh: 'company' });
const { create, createRecords } = world;

const readyz = async () => {
  const { status, text } = await request(world.app).get('/readyz');
  return { status, lines: text.trim().split('\n') };
};

/** Statements that change the table under `condition` fail until the returned function runs. */
async function refuse(
  { on, when, columns = '' }: { on: string; when: string; columns?: string },
  condition: string,
): Promise<() => Promise<unknown>> {
  const name = `refuse_${on}`;
  await world.sql(
    `CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF ${condition} THEN RAISE EXCEPTION 'refused by the test'; END IF;
      RETURN coalesce(NEW, OLD);
    END $$;
    CREATE TRIGGER ${name} ${when} ON ${on} ${columns} EXECUTE FUNCTION ${name}()`,
  );
  return () => world.sql(`DROP TRIGGER ${name} ON ${on}; DROP FUNCTION ${name}()`);
}

const OLD: Record<string, string> = {
  idempotency_keys: `(company_id, credential, key, operation_id, request_digest, status, answer,
      created_at)
    SELECT $1, 'c', 'k' || n, 'x', '\\x00', 200, '\\x00', now() - interval '2 days'`,
  rate_limits: `(company_id, subject, window_starts_at, used, granted)
    SELECT $1, 's' || n, now() - interval '2 days', 1, 1`,
  bid_failures: `(company_id, buyer_id, failed_at, uuid)
    SELECT $1, (SELECT max(id) FROM buyers), now() - interval '2 days', gen_random_uuid()`,
  bids: `(company_id, caller_number, offer_id, buyer_id, created_at, amount, duration, expires_at)
    SELECT $1, n, (SELECT max(id) FROM offers), (SELECT max(id) FROM buyers), now(), 1, 1,
      now() - interval '2 days'`,
  mail_counts: `(company_id, day, mailbox, used)
    SELECT $1, current_date - 9, 'm' || n, 1`,
  pings: `(company_id, uuid, created_at, inbound_webhook_id, offer_id, caller_number, token_values,
      buyer_ids, expires_at)
    SELECT $1, gen_random_uuid(), now() - interval '2 days', (SELECT max(id) FROM inbound_webhooks),
      (SELECT max(id) FROM offers), n, '{}', '{}', now()`,
};

test.each(Object.entries(OLD))('old rows of %s are deleted in portions', async (table, rows) => {
  await createRecords({ buyers: { Bayline: {} }, offers: { Auto: { buyer_ids: ['Bayline'] } } });
  await world.sql(
    `INSERT INTO inbound_webhooks (company_id, uuid, name, vanity_uri, offer_id)
    SELECT $1, gen_random_uuid(), $2, $2, max(id) FROM offers WHERE company_id = $1`,
    [world.company.id, table],
  );
  await world.sql(`INSERT INTO ${table} ${rows} FROM generate_series(1, 1200) n`, [
    world.company.id,
  ]);
  const allow = await refuse(
    {
      on: table,
      when: 'AFTER DELETE',
      columns: 'REFERENCING OLD TABLE AS gone FOR EACH STATEMENT',
    },
    '(SELECT count(*) FROM gone) > 500',
  );
  // Two processes at once.
  await Promise.all([deleteExpired(world.deps), deleteExpired(world.deps)]);
  await allow();
  // The requests of the test have a count of their own.
  const old = table === 'rate_limits' ? `subject ~ '^s[0-9]'` : 'true';
  const left = await world.sql(`SELECT 1 FROM ${table} WHERE company_id = $1 AND ${old}`, [
    world.company.id,
  ]);
  expect(left).toHaveLength(0);
});

test('a call that cannot be ended keeps no other from being ended', async () => {
  const { Auto } = await createRecords({
    buyers: { Bayline: {} },
    offers: { Auto: { buyer_ids: ['Bayline'] } },
  });
  const calls = [];
  for (let n = 0; n < 2; n++)
    calls.push(await create('call_sessions', { offer_id: Auto, caller_number: `+1310555010${n}` }));
  const onCall = `NEW.call_id = ${calls[0]}`;
  const when = { on: 'call_events', when: 'BEFORE INSERT', columns: 'FOR EACH ROW' };
  const allow = await refuse(when, onCall);
  const later = { ...world.deps, clock: () => new Date(Date.now() + 24 * 3_600_000) };
  await expect(endStaleCalls(later)).rejects.toThrow('refused by the test');
  const ended = () =>
    world.sql('SELECT id FROM calls WHERE company_id = $1 AND ended_at IS NOT NULL ORDER BY id', [
      world.company.id,
    ]);
  expect((await ended()).map(({ id }) => Number(id))).toEqual([calls[1]]);
  await allow();
  await endStaleCalls(later);
  expect(await ended()).toHaveLength(2);
});

describe('webhook events', () => {
  const HOOK = { name: 'CRM', trigger_type: 'new_lead_created', url: 'https://crm.example/hook' };
  const addLead = ({ api }: Company, leadToken: string) =>
    createRecord(api, 'leads', { lead_token: leadToken, caller_id: nextNumber() });
  const offer = async ({ api }: Company): Promise<string> =>
    (await createRecord(api, 'offers', { name: 'Auto' })).lead_token;
  const deliveries = async ({ id }: Company): Promise<string[]> =>
    (
      await world.sql<{ body: string }>(
        'SELECT request_body AS body FROM webhook_deliveries WHERE company_id = $1 ORDER BY id',
        [id],
      )
    ).map(({ body }) => body);

  test('that cannot be delivered in one company keep none of another', async () => {
    const companies = [await world.addCompany(), await world.addCompany()] as const;
    for (const company of companies) {
      await createRecord(company.api, 'outgoing_webhooks', HOOK);
      await addLead(company, await offer(company));
    }
    const condition = `NEW.company_id = ${companies[0].id}`;
    const when = { on: 'webhook_deliveries', when: 'BEFORE INSERT', columns: 'FOR EACH ROW' };
    const allow = await refuse(when, condition);
    await expect(fanOutWebhookEvents(world.deps)).rejects.toThrow('refused by the test');
    expect(await Promise.all(companies.map(deliveries))).toMatchObject([[], [expect.any(String)]]);
    await allow();
    await fanOutWebhookEvents(world.deps);
    expect(await deliveries(companies[0])).toHaveLength(1);
  });

  test('make about as many deliveries in a transaction as fit, in their order', async () => {
    const { company } = world;
    for (let n = 0; n < 3; n++) await createRecord(company.api, 'outgoing_webhooks', HOOK);
    const leadToken = await offer(company);
    for (let n = 0; n < 5; n++) await addLead(company, leadToken);
    const counts = [];
    for (let n = 0; n < 4; n++) counts.push(await fanOutWebhookEvents(world.deps, 6));
    expect(counts).toEqual([2, 2, 1, 0]);
    const numbers = (await deliveries(company)).map((body) => /\+?1212555\d{4}/.exec(body)![0]);
    expect([numbers.length, numbers]).toEqual([15, numbers.toSorted()]);
  });
});

test('/readyz and doctor name what fails, and no longer once it works', async () => {
  expect(await readyz()).toEqual({ status: 200, lines: ['ok'] });
  let fails = true;
  const failure = 'a loop of the test failed and will be tried again';
  const loop = repeat(world.deps.log, {
    sql: world.deps.database.sql,
    work: async () => {
      if (fails) throw new Error('secrets of the inside');
      return false;
    },
    every_ms: 5,
    pause_ms: 5,
    failure,
  });
  const rule = { name: 'Rule', kind: 'webhook_paused' };
  const id = await create('alert_rules', rule);
  await world.sql(
    `UPDATE alert_rules SET last_error = 'x', last_error_at = now()
      WHERE company_id = $1 AND id = $2`,
    [world.company.id, id],
  );
  const until = async (count: number) => {
    const end = Date.now() + FAR_MS;
    while ((await readyz()).lines.length !== count) {
      if (Date.now() > end) throw new Error(`never ${count} lines`);
      await setTimeout(20);
    }
    return readyz();
  };
  const { status, lines } = await until(3);
  expect([status, lines]).toEqual([
    200,
    [
      'ok',
      expect.stringMatching(new RegExp(`^degraded: ${failure} \\(since 20[^)]+Z\\)$`)),
      'degraded: alert rules that could not be looked at: 1',
    ],
  ]);
  expect(await listFaults(world.deps.database.sql)).toHaveLength(2);
  fails = false;
  await world.company.api('delete', `alert_rules/${id}`);
  expect((await until(1)).lines).toEqual(['ok']);
  await loop.stop();
});
