// #region docs
import axios from 'axios';
import * as trunkline from './trunkline';

const { TRUNKLINE_URL, TRUNKLINE_KEY, TRUNKLINE_SECRET } = process.env;
axios.defaults.baseURL = TRUNKLINE_URL;
axios.defaults.auth = { username: TRUNKLINE_KEY!, password: TRUNKLINE_SECRET! };
const body = { name: 'Coast', number: '+13105550123' };
const once = { headers: { 'Idempotency-Key': 'coast-1' } };
const { buyer } = (await trunkline.createBuyer(body, {}, once)).data;
await trunkline.updateBuyer(String(buyer.id), { name: 'Coast Legal' });
const { data: page } = await trunkline.listBuyers({ cursor: -1, per_page: 2 });
const refused: trunkline.Problem = await trunkline
  .createBuyer({ name: 'Coast', number: '555' })
  .catch((error) => error.response.data);
// #endregion

const again = (await trunkline.createBuyer(body, {}, once)).data.buyer;
const shown = (await trunkline.showBuyer(String(buyer.id))).data.buyer;

const pages: unknown[][] = [];
for (let cursor = -1; cursor !== 0;) {
  const { data: list } = await trunkline.listBuyers({ cursor, per_page: 2 });
  pages.push(list.buyers.map(({ name }) => name));
  cursor = list.metadata.next_cursor;
}

await trunkline.updateSchedule(process.env.SCHEDULE_ID!, { name: 'New' });

const submitted = await trunkline.submitLead({
  lead_token: process.env.LEAD_TOKEN!,
  caller_id: '(310) 555-0177',
  data: { first_name: 'Ann' },
});
const { lead } = submitted.data;

const import_file = new File(['6175550144\nnone\n'], 'numbers.csv', { type: 'text/csv' });
const buyer_suppression_id = process.env.SUPPRESSION_ID!;
const sent = await trunkline.createBuyerSuppressionFile({ buyer_suppression_id, import_file }, {});
const follow = async () =>
  (await trunkline.showBuyerSuppressionFile(String(sent.data.buyer_suppression_file.id))).data
    .buyer_suppression_file;
let file = await follow();
while (file.status === 'pending' || file.status === 'running') {
  await new Promise((done) => setTimeout(done, 100));
  file = await follow();
}

const begun = await trunkline.createCallSession({
  offer_id: process.env.OFFER_ID!,
  caller_number: '+13105550177',
});
const call = begun.data.call_session;
const [decision] = (await trunkline.showCallDecision(call.uuid)).data.decisions;

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
