// #region docs
import createClient from 'openapi-fetch';
import type { paths } from './trunkline';

const { TRUNKLINE_URL, TRUNKLINE_KEY, TRUNKLINE_SECRET } = process.env;
const authorization = `Basic ${btoa(`${TRUNKLINE_KEY}:${TRUNKLINE_SECRET}`)}`;
const trunkline = createClient<paths>({ baseUrl: TRUNKLINE_URL, headers: { authorization } });
const header = { 'Idempotency-Key': 'coast-1' };
const body = { name: 'Coast', number: '+13105550123' };
const made = await trunkline.POST('/buyers', { params: { header }, body });
const path = { id: String(made.data!.buyer.id) };
await trunkline.PUT('/buyers/{id}', { params: { path }, body: { name: 'Coast Legal' } });
const query = { cursor: -1, per_page: 2 };
const page = await trunkline.GET('/buyers', { params: { query } });
const refused = await trunkline.POST('/buyers', { body: { name: 'Coast', number: '555' } });
// #endregion

function need<T>(answer: { data?: T; error?: unknown }): T {
  if (answer.data === undefined) throw new Error(JSON.stringify(answer.error));
  return answer.data;
}

const again = need(await trunkline.POST('/buyers', { params: { header }, body })).buyer;
const shown = need(await trunkline.GET('/buyers/{id}', { params: { path } })).buyer;

const pages: unknown[][] = [];
for (let cursor = -1; cursor !== 0;) {
  const list = need(await trunkline.GET('/buyers', { params: { query: { ...query, cursor } } }));
  pages.push(list.buyers.map(({ name }) => name));
  cursor = list.metadata.next_cursor;
}

const schedule = { id: process.env.SCHEDULE_ID! };
need(await trunkline.PUT('/schedules/{id}', { params: { path: schedule }, body: { name: 'New' } }));

const { lead } = need(
  await trunkline.POST('/leads', {
    body: {
      lead_token: process.env.LEAD_TOKEN!,
      caller_id: '(310) 555-0177',
      data: { first_name: 'Ann' },
    },
  }),
);

const form = new FormData();
form.set('buyer_suppression_id', process.env.SUPPRESSION_ID!);
form.set('import_file', new File(['6175550144\nnone\n'], 'numbers.csv', { type: 'text/csv' }));
const sent = await trunkline.POST('/buyer_suppression_files', {
  body: {},
  bodySerializer: () => form,
});
const import_path = { id: String(need(sent).buyer_suppression_file.id) };
const follow = () =>
  trunkline.GET('/buyer_suppression_files/{id}', { params: { path: import_path } });
let file = need(await follow()).buyer_suppression_file;
while (file.status === 'pending' || file.status === 'running') {
  await new Promise((done) => setTimeout(done, 100));
  file = need(await follow()).buyer_suppression_file;
}

const begun = await trunkline.POST('/call_sessions', {
  body: { offer_id: process.env.OFFER_ID!, caller_number: '+13105550177' },
});
const call = need(begun).call_session;
const call_path = { id: call.uuid };
const decided = await trunkline.GET('/calls/{id}/decision', { params: { path: call_path } });
const candidates = need(decided).decisions[0]!.candidates;

console.log(
  JSON.stringify({
    created: [made.data?.buyer.name, again.id === made.data?.buyer.id],
    shown: shown.name,
    pages,
    lead: [lead.caller_id, lead.data],
    imported: [file.status, file.import_count, file.rejected_count],
    call: [call.instruction.action, call.instruction.dial.map(({ name }) => name)],
    decision: candidates.map(({ name, chosen }) => [name, chosen]),
    problem: [refused.error?.status, Object.keys(refused.error?.errors ?? {})],
  }),
);
