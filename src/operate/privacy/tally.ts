export class Tally {
  private readonly rows = new Map<string, number>();

  add(table: string, count: number): void {
    if (count > 0) this.rows.set(table, (this.rows.get(table) ?? 0) + count);
  }

  merge(tally: Tally): void {
    for (const [table, count] of tally.rows) this.add(table, count);
  }

  /** Tables with rows, in insertion order. */
  list(): Record<string, number> {
    return Object.fromEntries(this.rows);
  }
}
