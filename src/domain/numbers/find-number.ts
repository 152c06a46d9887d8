import type { Db } from '../../data/db';

/** The id of the company's number with these E.164 digits; undefined when it owns none. */
export async function findNumber(
  { prisma }: Pick<Db, 'prisma'>,
  phoneNumber: number | string,
): Promise<bigint | undefined> {
  const where = { phone_number: BigInt(phoneNumber), deleted_at: null };
  return (await prisma.number.findFirst({ where, select: { id: true } }))?.id;
}
