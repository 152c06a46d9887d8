// #region docs
import { Api, ImportStatus, type HttpResponse, type Problem } from './trunkline';

const { TRUNKLINE_URL, TRUNKLINE_KEY, TRUNKLINE_SECRET } = process.env;
const authorization = `Basic ${btoa(`${TRUNKLINE_KEY}:${TRUNKLINE_SECRET}`)}`;
const baseApiParams = { headers: { authorization } };
const trunkline = new Api({ baseUrl: TRUNKLINE_URL, baseApiParams });
const body = { name: 'Coast', number: '+13105550123' };
const once = { headers: { 'Idempotency-Key': 'coast-1' } };
const { buyer } = (await trunkline.buyers.createBuyer(body, {}, once)).data;
await trunkline.buyers.updateBuyer(String(buyer.id), { name: 'Coast Legal' });
const { data: page } = await trunkline.buyers.listBuyers({ cursor: -1, per_page: 2 });
const refused = await trunkline.buyers
  .createBuyer({ name: 'Coast', number: '555' })
  .catch((answer: HttpResponse<never, Problem>) => answer);
// #endregion

const again = (await trunkline.buyers.createBuyer(body, {}, once)).data.buyer;
const shown = (await trunkline.buyers.showBuyer(String(buyer.id))).data.buyer;

const pages: unknown[][] = [];
for (let cursor = -1; cursor !== 0;) {
  const { data: list } = await trunkline.buyers.listBuyers({ cursor, per_page: 2 });
  pages.push(list.buyers.map(({ name }) => name));
  cursor = list.metadata.next_cursor;
}

await trunkline.schedules.updateSchedule(process.env.SCHEDULE_ID!, { name: 'New' });

const submitted = await trunkline.leads.submitLead({
  lead_token: process.env.LEAD_TOKEN!,
  caller_id: '(310) 555-0177',
  data: { first_name: 'Ann' },
});
const { lead } = submitted.data;

const sent = await trunkline.buyerSuppressionFiles.createBuyerSuppressionFile({
  buyer_suppression_id: process.env.SUPPRESSION_ID!,
  import_file: new File(['6175550144\nnone\n'], 'numbers.csv', { type: 'text/csv' }),
});
const follow = async () => {
  const id = String(sent.data.buyer_suppression_file.id);
  const followed = await trunkline.buyerSuppressionFiles.showBuyerSuppressionFile(id);
  return followed.data.buyer_suppression_file;
};
const { ImportStatusPending, ImportStatusRunning } = ImportStatus;
let file = await follow();
while (file.status === ImportStatusPending || file.status === ImportStatusRunning) {
  await new Promise((done) => setTimeout(done, 100));
  file = await follow();
}

const begun = await trunkline.callSessions.createCallSession({
  offer_id: process.env.OFFER_ID!,
  caller_number: '+13105550177',
});
const call = begun.data.call_session;
const [decision] = (await trunkline.calls.showCallDecision(call.uuid)).data.decisions;

console.log(
  JSON.stringify({
    created: [buyer.name, again.id === buyer.id],
    shown: shown.name,
    pages,
    lead: [lead.caller_id, lead.data],
    imported: [file.status, file.import_count, file.rejected_count],
    call: [call.instruction.action, call.instruction.dial.map(({ name }) => name)],
    decision: decision!.candidates.map(({ name, chosen }) => [name, chosen]),
    problem: [refused.error.status, Object.keys(refused.error.errors)],
  }),
);
