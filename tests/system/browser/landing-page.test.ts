import { DESKTOP, inBrowser, withPage } from '../../support/browser';
import { eventually } from '../../support/engine-process';
import { useServedWorld } from '../../support/served-world';

// A page of another origin sends leads by what browsers have for it.

const served = useServedWorld();
let leadToken: string;
beforeAll(async () => {
  const { body } = await served.world.company.api('post', 'offers', { body: { name: 'Auto' } });
  leadToken = body.offer.lead_token;
});

const SENDERS = {
  'a beacon with a text': 'navigator.sendBeacon(url, text)',
  'a beacon with a Blob of JSON': `navigator.sendBeacon(url, new Blob([text], { type: 'application/json' }))`,
  'a beacon with a form': 'navigator.sendBeacon(url, new URLSearchParams(JSON.parse(text)))',
  'fetch with JSON':
    "fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: text })",
  'fetch with credentials':
    "fetch(url, { method: 'POST', credentials: 'include', headers: { 'x-requested-with': 'x' }, body: text })",
};

describe.each(Object.entries(SENDERS))('%s', (name, code) => {
  inBrowser('creates a lead from a page of another origin', () =>
    withPage(
      served.server,
      '/livez',
      DESKTOP,
      async (page) => {
        const { port } = served.server.address() as { port: number };
        const caller = `+1310555${String(1_000 + Object.keys(SENDERS).indexOf(name))}`;
        const url = `http://localhost:${port}/api/v1/leads`;
        const text = JSON.stringify({
          lead_token: leadToken,
          caller_id: caller,
          first_name: 'Ann',
        });
        await page.evaluate(
          `{ const url = ${JSON.stringify(url)}, text = ${JSON.stringify(text)}; ${code}; }`,
        );
        await eventually(async () => {
          const query = { number: caller };
          const { body } = await served.world.company.api('get', 'leads', { query });
          return body.leads.length === 1 && body.leads[0].data.first_name === 'Ann';
        });
      },
      // The page has no icon.
      [404],
    ),
  );
});
