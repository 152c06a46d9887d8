// #region docs
import { isErrorFromAlias } from '@zodios/core';
import { createApiClient } from './trunkline';

const { TRUNKLINE_URL, TRUNKLINE_KEY, TRUNKLINE_SECRET } = process.env;
const auth = { username: TRUNKLINE_KEY!, password: TRUNKLINE_SECRET! };
const trunkline = createApiClient(TRUNKLINE_URL!, { axiosConfig: { auth } });
const body = { name: 'Coast', number: '+13105550123' };
const once = { headers: { 'Idempotency-Key': 'coast-1' } };
const { buyer } = await trunkline.createBuyer(body, once);
const params = { id: String(buyer.id) };
await trunkline.updateBuyer({ name: 'Coast Legal' }, { params });
const page = await trunkline.listBuyers({ queries: { cursor: -1, per_page: 2 } });
const problem = await trunkline
  .createBuyer({ name: 'Coast', number: '555' })
  .catch((error) => isErrorFromAlias(trunkline.api, 'createBuyer', error) && error.response.data);
// #endregion

const again = (await trunkline.createBuyer(body, once)).buyer;
const shown = (await trunkline.showBuyer({ params })).buyer;

const pages: unknown[][] = [];
for (let cursor = -1; cursor !== 0;) {
  const list = await trunkline.listBuyers({ queries: { cursor, per_page: 2 } });
  pages.push(list.buyers.map(({ name }) => name));
  cursor = list.metadata.next_cursor;
}

await trunkline.updateSchedule({ name: 'New' }, { params: { id: process.env.SCHEDULE_ID! } });

const { lead } = await trunkline.submitLead({
  lead_token: process.env.LEAD_TOKEN!,
  caller_id: '(310) 555-0177',
  data: { first_name: 'Ann' },
});

const sent = await trunkline.createBuyerSuppressionFile({
  buyer_suppression_id: process.env.SUPPRESSION_ID!,
  import_file: new File(['6175550144\nnone\n'], 'numbers.csv', { type: 'text/csv' }),
});
const follow = async () => {
  const id = String(sent.buyer_suppression_file.id);
  return (await trunkline.showBuyerSuppressionFile({ params: { id } })).buyer_suppression_file;
};
let file = await follow();
while (file.status === 'pending' || file.status === 'running') {
  await new Promise((done) => setTimeout(done, 100));
  file = await follow();
}

const { call_session: call } = await trunkline.createCallSession({
  offer_id: process.env.OFFER_ID!,
  caller_number: '+13105550177',
});
const decided = await trunkline.showCallDecision({ params: { id: call.uuid } });

console.log(
  JSON.stringify({
    created: [buyer.name, again.id === buyer.id],
    shown: shown.name,
    pages,
    lead: [lead.caller_id, lead.data],
    imported: [file.status, file.import_count, file.rejected_count],
    call: [call.instruction.action, call.instruction.dial.map(({ name }) => name)],
    decision: decided.decisions[0]!.candidates.map(({ name, chosen }) => [name, chosen]),
    problem: problem && [problem.status, Object.keys(problem.errors)],
  }),
);
