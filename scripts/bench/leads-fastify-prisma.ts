import { PrismaPg } from '@prisma/adapter-pg';
import Fastify from 'fastify';
import { Pool } from 'pg';
import { Prisma, PrismaClient } from '../../src/generated/prisma/client';

// A typical implementation of submissions: fastify and Prisma's own API over the same schema,
// writing the same rows. It neither checks the token, the number or the values, nor looks up the
// number.

const { BENCH_URL, BENCH_COMPANY, BENCH_OFFER, BENCH_SCHEDULE, BENCH_PORT } = process.env;
const pool = new Pool({ connectionString: BENCH_URL, max: 16, options: '-c timezone=UTC' });
const prisma = new PrismaClient({ adapter: new PrismaPg(pool) });
const [companyId, offerId, scheduleId] = [BENCH_COMPANY, BENCH_OFFER, BENCH_SCHEDULE].map((id) =>
  BigInt(id!),
) as [bigint, bigint, bigint];
const app = Fastify();

/** JSON has no bigint, and Decimal would become text. */
app.setReplySerializer((payload) =>
  JSON.stringify(payload, (_, value) => (typeof value === 'bigint' ? Number(value) : value)),
);

type Transaction = Prisma.TransactionClient;

const countLead = (tx: Transaction) => {
  const key = { company_id: companyId, resource: 'leads', slot: Math.floor(Math.random() * 64) };
  return tx.recordCount.upsert({
    where: { company_id_resource_slot: key },
    create: { ...key, n: 1 },
    update: { n: { increment: 1 } },
  });
};

interface Submission {
  caller_number: bigint;
  email: string;
  remote_ip: string;
  data: Record<string, string>;
}

/**
 * Prisma's upsert cannot use a partial unique index, so this looks for the live lead first; the
 * index rejects the second of two concurrent inserts.
 */
async function submit({ caller_number, data, ...fields }: Submission) {
  return prisma.$transaction(async (tx) => {
    const now = new Date();
    const live = await tx.lead.findFirst({
      where: { company_id: companyId, schedule_id: scheduleId, caller_number, is_live: true },
      select: { id: true, data: true },
    });
    const lead = live
      ? await tx.lead.update({
          where: { company_id_id: { company_id: companyId, id: live.id } },
          data: { ...fields, data: { ...(live.data as object), ...data }, user_updated_at: now },
        })
      : await tx.lead.create({
          data: {
            ...fields,
            company_id: companyId,
            offer_id: offerId,
            schedule_id: scheduleId,
            caller_number,
            data,
            zones: ['America/New_York'],
            status: 'scheduled',
            user_updated_at: now,
            first_queued_at: now,
            entered_at: now,
            next_action_at: now,
            due_at: now,
          },
        });
    await tx.leadLog.create({
      data: { company_id: companyId, lead_id: lead.id, event: live ? 'updated' : 'created' },
    });
    if (!live) await countLead(tx);
    return { lead, created: !live };
  });
}

const isTaken = (error: unknown) =>
  error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2002';

app.post<{ Querystring: Record<string, string> }>('/api/v1/leads', async ({ query, ip }, reply) => {
  const { lead_token, caller_id, email, ...data } = query;
  void lead_token;
  const submission = { caller_number: BigInt(`1${caller_id}`), email: email!, remote_ip: ip, data };
  const { lead, created } = await submit(submission).catch((error: unknown) => {
    if (isTaken(error)) return submit(submission);
    throw error;
  });
  const status = created ? 201 : 200;
  return reply.code(status).send({ status, success: true, id: lead.id, lead });
});

app.get('/livez', async () => ({}));

void app.listen({ port: Number(BENCH_PORT), host: '127.0.0.1' });
