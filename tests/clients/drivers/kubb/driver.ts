// #region docs
import { axiosInstance } from '@kubb/plugin-client/clients/axios';
import * as trunkline from './trunkline';

const { TRUNKLINE_URL, TRUNKLINE_KEY, TRUNKLINE_SECRET } = process.env;
axiosInstance.defaults.baseURL = TRUNKLINE_URL;
axiosInstance.defaults.auth = { username: TRUNKLINE_KEY!, password: TRUNKLINE_SECRET! };
const body = { name: 'Coast', number: '+13105550123' };
const once = { 'Idempotency-Key': 'coast-1' };
const { buyer } = await trunkline.createBuyer(body, {}, once);
await trunkline.updateBuyer(String(buyer.id), { name: 'Coast Legal' });
const page = await trunkline.listBuyers({ cursor: -1, per_page: 2 });
const refused: trunkline.Problem = await trunkline
  .createBuyer({ name: 'Coast', number: '555' })
  .catch((error) => error.response.data);
// #endregion

const again = (await trunkline.createBuyer(body, {}, once)).buyer;
const shown = (await trunkline.showBuyer(String(buyer.id))).buyer;

const pages: unknown[][] = [];
for (let cursor = -1; cursor !== 0;) {
  const list = await trunkline.listBuyers({ cursor, per_page: 2 });
  pages.push(list.buyers.map(({ name }) => name));
  cursor = list.metadata.next_cursor;
}

await trunkline.updateSchedule(process.env.SCHEDULE_ID!, { name: 'New' });

const { lead } = await trunkline.submitLead({
  lead_token: process.env.LEAD_TOKEN!,
  caller_id: '(310) 555-0177',
  data: { first_name: 'Ann' },
});

const import_file = new File(['6175550144\nnone\n'], 'numbers.csv', { type: 'text/csv' });
const buyer_suppression_id = process.env.SUPPRESSION_ID!;
const sent = await trunkline.createBuyerSuppressionFile({ buyer_suppression_id, import_file });
const follow = async () =>
  (await trunkline.showBuyerSuppressionFile(String(sent.buyer_suppression_file.id)))
    .buyer_suppression_file;
let file = await follow();
while (file.status === 'pending' || file.status === 'running') {
  await new Promise((done) => setTimeout(done, 100));
  file = await follow();
}

const { call_session: call } = await trunkline.createCallSession({
  offer_id: process.env.OFFER_ID!,
  caller_number: '+13105550177',
});
const [decision] = (await trunkline.showCallDecision(call.uuid)).decisions;

console.log(
  JSON.stringify({
    created: [buyer.name, again.id === buyer.id],
    shown: shown.name,
    pages,
    lead: [lead.caller_id, lead.data],
    imported: [file.status, file.import_count, file.rejected_count],
    call: [call.instruction.action, call.instruction.dial.map(({ name }) => name)],
    decision: decision!.candidates.map(({ name, chosen }) => [name, chosen]),
    problem: [refused.status, Object.keys(refused.errors)],
  }),
);
