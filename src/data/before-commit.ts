/** Work that a transaction does last, before it commits. */
export class BeforeCommit {
  private readonly works = new Map<string, () => Promise<void>>();

  /** The first work of a key counts; the others of that key would do the same. */
  add(key: string, work: () => Promise<void>): void {
    if (!this.works.has(key)) this.works.set(key, work);
  }

  /**
   * Runs the works, including those that are added meanwhile. All transactions run them in the
   * order of their keys, so that two of them never wait for each other's rows.
   */
  async run(): Promise<void> {
    for (let key = this.first(); key !== undefined; key = this.first()) {
      const work = this.works.get(key)!;
      this.works.delete(key);
      await work();
    }
  }

  private first(): string | undefined {
    return [...this.works.keys()].sort()[0];
  }
}
