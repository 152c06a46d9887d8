// #region docs
import * as trunkline from './trunkline';
import { client } from './trunkline/client.gen';

const { TRUNKLINE_URL, TRUNKLINE_KEY, TRUNKLINE_SECRET } = process.env;
client.setConfig({
  baseUrl: TRUNKLINE_URL,
  auth: ({ scheme }) => (scheme === 'basic' ? `${TRUNKLINE_KEY}:${TRUNKLINE_SECRET}` : undefined),
});
const body = { name: 'Coast', number: '+13105550123' };
const headers = { 'Idempotency-Key': 'coast-1' };
const made = await trunkline.createBuyer({ headers, body });
const path = { id: String(made.data!.buyer.id) };
await trunkline.updateBuyer({ path, body: { name: 'Coast Legal' } });
const page = await trunkline.listBuyers({ query: { cursor: -1, per_page: 2 } });
const refused = await trunkline.createBuyer({ body: { name: 'Coast', number: '555' } });
// #endregion

function need<T>(answer: { data?: T; error?: unknown }): T {
  if (answer.data === undefined) throw new Error(JSON.stringify(answer.error));
  return answer.data;
}

const again = need(await trunkline.createBuyer({ headers, body })).buyer;
const shown = need(await trunkline.showBuyer({ path })).buyer;

const pages: unknown[][] = [];
for (let cursor = -1; cursor !== 0;) {
  const list = need(await trunkline.listBuyers({ query: { cursor, per_page: 2 } }));
  pages.push(list.buyers.map(({ name }) => name));
  cursor = list.metadata.next_cursor;
}

const schedule = { id: process.env.SCHEDULE_ID! };
need(await trunkline.updateSchedule({ path: schedule, body: { name: 'New' } }));

const submitted = await trunkline.submitLead({
  body: {
    lead_token: process.env.LEAD_TOKEN!,
    caller_id: '(310) 555-0177',
    data: { first_name: 'Ann' },
  },
});
const { lead } = need(submitted);

const sent = await trunkline.createBuyerSuppressionFile({
  body: {
    buyer_suppression_id: process.env.SUPPRESSION_ID!,
    import_file: new File(['6175550144\nnone\n'], 'numbers.csv', { type: 'text/csv' }),
  },
});
const import_path = { id: String(need(sent).buyer_suppression_file.id) };
const follow = () => trunkline.showBuyerSuppressionFile({ path: import_path });
let file = need(await follow()).buyer_suppression_file;
while (file.status === 'pending' || file.status === 'running') {
  await new Promise((done) => setTimeout(done, 100));
  file = need(await follow()).buyer_suppression_file;
}

const begun = await trunkline.createCallSession({
  body: { offer_id: process.env.OFFER_ID!, caller_number: '+13105550177' },
});
const call = need(begun).call_session;
const decided = await trunkline.showCallDecision({ path: { id: call.uuid } });
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
