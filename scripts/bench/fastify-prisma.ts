import { randomUUID } from 'node:crypto';
import { PrismaPg } from '@prisma/adapter-pg';
import Fastify from 'fastify';
import { Pool } from 'pg';
import { PrismaClient, type Prisma } from '../../src/generated/prisma/client';

// A typical implementation: fastify and Prisma's own API over the same schema, without
// authentication or contract. With BENCH_LOG=yes a write is one transaction with its entry in the
// change log and its count, as in the service; otherwise there is no log.

const { BENCH_URL, BENCH_COMPANY, BENCH_PORT, BENCH_LOG } = process.env;
const pool = new Pool({ connectionString: BENCH_URL, max: 16, options: '-c timezone=UTC' });
const prisma = new PrismaClient({ adapter: new PrismaPg(pool) });
const companyId = BigInt(BENCH_COMPANY!);
const include = {
  call_limit: true,
  business_hours: true,
  conversions: true,
  memberships: { include: { buyer_group: { select: { name: true } } } },
} satisfies Prisma.BuyerInclude;
const app = Fastify();

/** JSON has no bigint, and Decimal would become text. */
app.setReplySerializer((payload) =>
  JSON.stringify(payload, (_, value) => (typeof value === 'bigint' ? Number(value) : value)),
);

app.get('/api/v1/me', async () => ({ me: {} }));

interface ListQuery {
  columns?: string;
  fulltext?: string;
}

app.get<{ Querystring: ListQuery }>('/api/v1/buyers', async ({ query: { columns, fulltext } }) => {
  const where: Prisma.BuyerWhereInput = {
    company_id: companyId,
    deleted_at: null,
    ...(fulltext && { OR: [{ name: { contains: fulltext } }, { number: { contains: fulltext } }] }),
  };
  const page = { where, orderBy: { id: 'asc' as const }, take: 25 };
  const select = columns && Object.fromEntries(columns.split(',').map((name) => [name, true]));
  const [buyers, totalCount] = await Promise.all([
    select
      ? prisma.buyer.findMany({ ...page, select })
      : prisma.buyer.findMany({ ...page, include }),
    prisma.buyer.count({ where }),
  ]);
  return {
    status: 200,
    success: true,
    buyers,
    metadata: { root: 'buyers', page: 1, per_page: 25, total_count: totalCount },
  };
});

app.get<{ Params: { id: string } }>('/api/v1/buyers/:id', async ({ params }) => ({
  status: 200,
  success: true,
  buyer: await prisma.buyer.findUniqueOrThrow({
    where: { company_id_id: { company_id: companyId, id: BigInt(params.id) } },
    include,
  }),
}));

interface Body {
  name: string;
  number: string;
  weight: number;
  tier: number;
  attempt_daily_limit: number;
}
const bodySchema = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    number: { type: 'string' },
    weight: { type: 'number' },
    tier: { type: 'number' },
    attempt_daily_limit: { type: 'integer' },
  },
};

type Client = Prisma.TransactionClient;
const asJson = (value: unknown) =>
  JSON.stringify(value, (_, inner: unknown) => (typeof inner === 'bigint' ? Number(inner) : inner));

/** Runs a write; with BENCH_LOG=yes in one transaction with its log entry. */
async function logging<R extends { id: bigint }>(
  write: (client: Client) => Promise<R>,
  ofOld?: (client: Client) => Promise<R>,
): Promise<R> {
  if (BENCH_LOG !== 'yes') return write(prisma);
  return prisma.$transaction(async (tx) => {
    const before = await ofOld?.(tx);
    const record = await write(tx);
    const changes = Object.entries(record).flatMap(([name, to]) => {
      const from = before?.[name as keyof R] ?? null;
      return asJson(from) === asJson(to) ? [] : [[name, { from, to: to as unknown }]];
    });
    await tx.changeLog.create({
      data: {
        company_id: companyId,
        record_type: 'Buyer',
        record_id: record.id,
        action: before ? 'update' : 'create',
        operation: before ? 'updateBuyer' : 'createBuyer',
        changes: JSON.parse(asJson(Object.fromEntries(changes))) as Prisma.InputJsonObject,
        access_token_id: 1n,
        credentials: 'First key pair',
        request_id: randomUUID(),
        ip: '127.0.0.1',
      },
      select: { id: true },
    });
    const slot = Math.floor(Math.random() * 64);
    for (const resource of before ? ['change_logs'] : ['buyers', 'change_logs'])
      await tx.recordCount.upsert({
        where: { company_id_resource_slot: { company_id: companyId, resource, slot } },
        create: { company_id: companyId, resource, slot, n: 1 },
        update: { n: { increment: 1 } },
      });
    return record;
  });
}

app.post<{ Body: Body }>(
  '/api/v1/buyers',
  { schema: { body: bodySchema } },
  async ({ body: { attempt_daily_limit, ...body } }, reply) => {
    const defaults = {
      buyer_type: 'buyer',
      time_zone: 'America/New_York',
      timeout_seconds: 120,
      record_calls: false,
      press_one_to_accept: false,
      route_by_type: 'tier',
      tier: 1,
      display_caller_id_type: 'display_caller_id',
    };
    const buyer = await logging((client) =>
      client.buyer.create({
        data: {
          ...defaults,
          ...body,
          company_id: companyId,
          call_limit: { create: { zone: 'America/New_York', attempt_daily_limit } },
        },
        include,
      }),
    );
    reply.code(201);
    return { status: 201, success: true, buyer };
  },
);

app.put<{ Params: { id: string }; Body: Body }>(
  '/api/v1/buyers/:id',
  { schema: { body: bodySchema } },
  async ({ params, body: { attempt_daily_limit, ...body } }) => {
    const where = { company_id_id: { company_id: companyId, id: BigInt(params.id) } };
    return {
      status: 200,
      success: true,
      buyer: await logging(
        (client) =>
          client.buyer.update({
            where,
            data: { ...body, call_limit: { update: { attempt_daily_limit } } },
            include,
          }),
        (client) => client.buyer.findUniqueOrThrow({ where, include }),
      ),
    };
  },
);

void app.listen({ port: Number(BENCH_PORT), host: '127.0.0.1' });
