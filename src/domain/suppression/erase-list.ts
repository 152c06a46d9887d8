import type { Deps } from '../deps';
import { toKey } from '../../data/references';
import type { JobContext } from '../../data/jobs/queue';
import type { Tasks } from '../../data/jobs/tasks';
import { ERASE_NUMBERS } from './queries/numbers';

export async function eraseSuppressionList(
  task: Tasks['erase_suppression_list'],
  { signal }: JobContext,
  { tenants, storage }: Pick<Deps, 'tenants' | 'storage'>,
): Promise<void> {
  const db = tenants.of(BigInt(task.company_id));
  const list = BigInt(task.id);
  for (let after: string | null = '-1'; after !== null;) {
    const rows: { last: string | null }[] = await db.sql(ERASE_NUMBERS, { list, after });
    after = rows[0]!.last;
    signal.throwIfAborted();
  }
  const files = await db.prisma.buyerSuppressionFile.findMany({
    where: { buyer_suppression_id: list, import_file_key: { not: null } },
    select: { id: true, import_file_key: true },
  });
  for (const { id, import_file_key } of files) {
    await db.prisma.rejectedRow.deleteMany({ where: { buyer_suppression_file_id: id } });
    await storage.remove(import_file_key!);
    await db.prisma.buyerSuppressionFile.update({
      where: toKey(db, id),
      data: { import_file_key: null },
      select: { id: true },
    });
  }
}
