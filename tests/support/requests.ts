import { createRecord, createRecords } from './records';
import type { Company } from './world';

type Method = 'get' | 'post' | 'put' | 'delete';

/** Requests of a company that a test file replaces for each test. */
export function requests(company: () => Company) {
  const api = (method: Method, path: string, body?: object) =>
    company().api(method, path, body ? { body } : {});
  return {
    api,
    /** The body of an answer; any that is no success fails the test. */
    ok: async (...args: Parameters<typeof api>) => {
      const res = await api(...args);
      if (res.status >= 300) throw new Error(`${args[1]}: ${res.text}`);
      return res.body;
    },
    /** Creates a record, and returns its id. */
    create: async (path: string, fields?: object): Promise<number> =>
      (await createRecord(company().api, path, fields)).id,
    /** Creates a record, and returns it. */
    createRecord: (path: string, fields?: object) => createRecord(company().api, path, fields),
    /** Creates records by resource and name, and returns their ids by name. */
    createRecords: <const Table extends Parameters<typeof createRecords>[1]>(table: Table) =>
      createRecords(company().api, table),
  };
}
