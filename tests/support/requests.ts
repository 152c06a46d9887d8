import type { Company } from './world';

type Method = 'get' | 'post' | 'put' | 'delete';

/** Requests of a company that a test file replaces for each test. */
export function requests(company: () => Company) {
  const api = (method: Method, path: string, body?: Record<string, unknown>) =>
    company().api(method, path, body ? { body } : {});
  /** The body of an answer; any that is no success fails the test. */
  const ok = async (...args: Parameters<typeof api>) => {
    const res = await api(...args);
    if (res.status >= 300) throw new Error(`${args[1]}: ${res.text}`);
    return res.body;
  };
  return { api, ok };
}
