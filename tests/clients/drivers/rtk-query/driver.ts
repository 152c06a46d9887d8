// #region docs
import { configureStore } from '@reduxjs/toolkit';
import { trunkline, type Problem } from './trunkline';

const { dispatch } = configureStore({
  reducer: { [trunkline.reducerPath]: trunkline.reducer },
  middleware: (all) => all().concat(trunkline.middleware),
});
const { createBuyer, updateBuyer, listBuyers } = trunkline.endpoints;
const buyerCreate = { name: 'Coast', number: '+13105550123' };
const once = { 'Idempotency-Key': 'coast-1', buyerCreate };
const { buyer } = await dispatch(createBuyer.initiate(once)).unwrap();
const rename = { id: String(buyer.id), buyerUpdate: { name: 'Coast Legal' } };
await dispatch(updateBuyer.initiate(rename)).unwrap();
const page = await dispatch(listBuyers.initiate({ cursor: -1, perPage: 2 })).unwrap();
const wrong = { buyerCreate: { name: 'Coast', number: '555' } };
const { error } = await dispatch(createBuyer.initiate(wrong));
// #endregion

const { data: problem } = error as { data: Problem };

const { showBuyer, updateSchedule, submitLead, createCallSession } = trunkline.endpoints;
const { createBuyerSuppressionFile, showBuyerSuppressionFile, showCallDecision } =
  trunkline.endpoints;
const again = (await dispatch(createBuyer.initiate(once)).unwrap()).buyer;
const shown = (await dispatch(showBuyer.initiate({ id: String(buyer.id) })).unwrap()).buyer;

const pages: unknown[][] = [];
for (let cursor = -1; cursor !== 0;) {
  const list = await dispatch(listBuyers.initiate({ cursor, perPage: 2 })).unwrap();
  pages.push(list.buyers.map(({ name }) => name));
  cursor = list.metadata.next_cursor;
}

const schedule = { id: process.env.SCHEDULE_ID!, scheduleUpdate: { name: 'New' } };
await dispatch(updateSchedule.initiate(schedule)).unwrap();

const leadSubmission = {
  lead_token: process.env.LEAD_TOKEN!,
  caller_id: '(310) 555-0177',
  data: { first_name: 'Ann' },
};
const { lead } = await dispatch(submitLead.initiate({ leadSubmission })).unwrap();

// Any FormData is sent as it is; an object would be sent as JSON.
const form = new FormData();
form.set('buyer_suppression_id', process.env.SUPPRESSION_ID!);
form.set('import_file', new File(['6175550144\nnone\n'], 'numbers.csv', { type: 'text/csv' }));
const upload = { buyerSuppressionFileUpload: form as object };
const sent = await dispatch(createBuyerSuppressionFile.initiate(upload)).unwrap();
const follow = async () => {
  const id = String(sent.buyer_suppression_file.id);
  const query = showBuyerSuppressionFile.initiate({ id }, { forceRefetch: true });
  return (await dispatch(query).unwrap()).buyer_suppression_file;
};
let file = await follow();
while (file.status === 'pending' || file.status === 'running') {
  await new Promise((done) => setTimeout(done, 100));
  file = await follow();
}

const callSessionCreate = {
  offer_id: process.env.OFFER_ID!,
  caller_number: '+13105550177',
};
const begun = await dispatch(createCallSession.initiate({ callSessionCreate })).unwrap();
const call = begun.call_session;
const decided = await dispatch(showCallDecision.initiate({ id: call.uuid })).unwrap();

console.log(
  JSON.stringify({
    created: [buyer.name, again.id === buyer.id],
    shown: shown.name,
    pages,
    lead: [lead.caller_id, lead.data],
    imported: [file.status, file.import_count, file.rejected_count],
    call: [call.instruction.action, call.instruction.dial.map(({ name }) => name)],
    decision: decided.decisions[0]!.candidates.map(({ name, chosen }) => [name, chosen]),
    problem: [problem.status, Object.keys(problem.errors)],
  }),
);
