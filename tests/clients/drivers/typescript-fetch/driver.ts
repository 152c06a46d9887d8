// #region docs
import { BuyersApi, Configuration, ProblemFromJSON, ResponseError } from './trunkline';

const { TRUNKLINE_URL, TRUNKLINE_KEY, TRUNKLINE_SECRET } = process.env;
const credentials = { username: TRUNKLINE_KEY, password: TRUNKLINE_SECRET };
const trunkline = new Configuration({ basePath: TRUNKLINE_URL, ...credentials });
const buyers = new BuyersApi(trunkline);
const buyerCreate = { name: 'Coast', number: '+13105550123' };
const { buyer } = await buyers.createBuyer({ buyerCreate, idempotencyKey: 'coast-1' });
const id = String(buyer.id);
await buyers.updateBuyer({ id, buyerUpdate: { name: 'Coast Legal' } });
const page = await buyers.listBuyers({ cursor: -1, perPage: 2 });
const problem = await buyers
  .createBuyer({ buyerCreate: { name: 'Coast', number: '555' } })
  .catch(async (error: ResponseError) => ProblemFromJSON(await error.response.json()));
// #endregion
import {
  BuyerSuppressionFilesApi,
  CallSessionsApi,
  LeadsApi,
  RoutingApi,
  SchedulesApi,
} from './trunkline';

const again = await buyers.createBuyer({ buyerCreate, idempotencyKey: 'coast-1' });
const shown = await buyers.showBuyer({ id });

const pages: unknown[][] = [];
for (let cursor = -1; cursor !== 0;) {
  const list = await buyers.listBuyers({ cursor, perPage: 2 });
  pages.push(list.buyers.map(({ name }) => name));
  cursor = list.metadata.nextCursor;
}

await new SchedulesApi(trunkline).updateSchedule({
  id: process.env.SCHEDULE_ID!,
  scheduleUpdate: { name: 'New' },
});

const { lead } = await new LeadsApi(trunkline).submitLead({
  leadSubmission: {
    leadToken: process.env.LEAD_TOKEN!,
    callerId: '(310) 555-0177',
    data: { first_name: 'Ann' },
  },
});

const files = new BuyerSuppressionFilesApi(trunkline);
const sent = await files.createBuyerSuppressionFile({
  buyerSuppressionId: process.env.SUPPRESSION_ID!,
  importFile: new File(['6175550144\nnone\n'], 'numbers.csv', { type: 'text/csv' }),
});
const follow = async () =>
  (await files.showBuyerSuppressionFile({ id: String(sent.buyerSuppressionFile.id) }))
    .buyerSuppressionFile;
let file = await follow();
while (file.status === 'pending' || file.status === 'running') {
  await new Promise((done) => setTimeout(done, 100));
  file = await follow();
}

const begun = await new CallSessionsApi(trunkline).createCallSession({
  callSessionCreate: { offerId: process.env.OFFER_ID!, callerNumber: '+13105550177' },
});
const call = begun.callSession;
const { decisions } = await new RoutingApi(trunkline).showCallDecision({ id: call.uuid });

console.log(
  JSON.stringify({
    created: [buyer.name, again.buyer.id === buyer.id],
    shown: shown.buyer.name,
    pages,
    lead: [lead.callerId, lead.data],
    imported: [file.status, file.importCount, file.rejectedCount],
    call: [call.instruction.action, call.instruction.dial.map(({ name }) => name)],
    decision: decisions[0]!.candidates.map(({ name, chosen }) => [name, chosen]),
    problem: 'errors' in problem && [problem.status, Object.keys(problem.errors)],
  }),
);
