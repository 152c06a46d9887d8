import { IgnoredRows } from '../../api/request/set-aside';
import type { Handlers } from '../../api/handlers';
import type { Schemas } from '../../platform/contract/contract';
import { SOFTSWITCH } from '../../platform/carriers/carrier';
import { HttpProblem, toErrors, type FieldFaults } from '../../platform/errors';
import { findNamed } from '../../data/records';
import type { Db } from '../../data/db';
import type { Deps } from '../deps';
import { loadRouting, type RoutingContext } from '../routing/context';
import { readCallState, type CallState } from './call-state';
import { countInItsTime, prepareEnd, type ImportedEnd } from './imported-end';
import { buildImportedRound, type ImportedBuyer } from './imported-round';
import { LIST_EXCEEDED_CAPS } from './queries/exceeded-caps';
import { findCall } from './read-call';
import { buildNewCall, findOffer, readIncomingCall, toRoutingRequest } from './receive';
import { recordEvent, startSingleCall } from './record-call';
import { recordChange } from './record-change';
import { retryOnPaymentConflict } from './settle';

// Calls that took place while the service was away. Each is begun and ended by what begins and ends
// any other call, in one transaction, at its own times; only its buyer was not chosen here.

type ImportedCall = Schemas['ImportedCall'];
type Result = Schemas['CallImportResult'];

const DAY_MS = 86_400_000;
const MAX_DAYS = 31;
/** A switch and this service may differ by so much in what time it is. */
const MAX_SKEW_MS = 60_000;

export const callImports = ({ clock, config }: Deps) =>
  ({
    importCalls: async ({ body: { calls }, db, ignored }) => {
      const now = clock();
      const days = Math.min(MAX_DAYS, config.call_days || MAX_DAYS);
      const rows = ignored instanceof IgnoredRows ? ignored : undefined;
      const numbered = calls.map((call, position) => ({
        call,
        index: rows?.findIndex(position) ?? position,
      }));
      const results = listUnreadable(rows);
      // A caller may be paid for once: then the earlier call is the one.
      for (const { call, index } of numbered.toSorted(byTime)) {
        const result = await importCall(db, call, { now, days });
        results.push({ index, call_sid: call.call_sid ?? null, ...result });
      }
      results.sort((a, b) => a.index - b.index);
      return {
        ...{ status: 200, success: true, errors: {}, results },
        metadata: { root: 'results' },
      };
    },
  }) satisfies Partial<Handlers>;

const byTime = ({ call: a }: { call: ImportedCall }, { call: b }: { call: ImportedCall }) =>
  Date.parse(a.started_at) - Date.parse(b.started_at);

/** The calls that are not as the contract asks. */
function listUnreadable(rows: IgnoredRows | undefined): Result[] {
  return [...(rows?.faultsByRow ?? [])].map(([index, faults]) => {
    const sid = (rows!.sentRows[index] as { call_sid?: unknown } | null)?.call_sid;
    return { index, call_sid: typeof sid === 'string' ? sid : null, ...refuse(faults) };
  });
}

const refuse = (faults: FieldFaults) => ({
  result: 'refused' as const,
  id: null,
  errors: toErrors(faults),
});

interface Limits {
  now: Date;
  days: number;
}

type Outcome = Pick<Result, 'result' | 'id' | 'errors'>;

/** Imports a call, or says what is wrong with it. Throws what a repetition may mend. */
async function importCall(db: Db, call: ImportedCall, limits: Limits): Promise<Outcome> {
  try {
    if (!call.call_sid)
      throw HttpProblem.field(
        'call_sid',
        'missing_field',
        'must be given: it says which are known',
      );
    const knownCall = await findCall(db, SOFTSWITCH, call.call_sid);
    if (knownCall) return { result: 'exists', id: knownCall.id, errors: {} };
    const times = readTimes(call, limits);
    const draft = await readDraft(db, call, { ...times, now: limits.now });
    const end = { ...call, ...times, now: limits.now };
    return await db.transaction((tx) => writeCall(tx, draft, end));
  } catch (error) {
    if (error instanceof HttpProblem && error.status === 422) return refuse(error.faults);
    throw error;
  }
}

interface Times {
  startedAt: Date;
  endedAt: Date;
}

/** Throws 422 for times that cannot be, or are too old. */
function readTimes(call: ImportedCall, { now, days }: Limits): Times {
  const [startedAt, endedAt] = [new Date(call.started_at), new Date(call.ended_at)];
  const wrong = (field: string, message: string) =>
    HttpProblem.field(field, 'invalid_value', message);
  if (startedAt.getTime() < now.getTime() - days * DAY_MS)
    throw wrong('started_at', `must be at most ${days} days ago`);
  if (endedAt.getTime() > now.getTime() + MAX_SKEW_MS)
    throw wrong('ended_at', 'must not be in the future: a call in progress is reported by events');
  if (endedAt < startedAt) throw wrong('ended_at', 'must not be before started_at');
  const { duration, buyer_id } = call;
  if (typeof duration === 'number') {
    if (!buyer_id)
      throw HttpProblem.field('buyer_id', 'missing_field', 'must be given with duration');
    if (duration > Math.ceil((endedAt.getTime() - startedAt.getTime()) / 1000))
      throw wrong('duration', 'must not be longer than from started_at to ended_at');
  }
  return { startedAt, endedAt };
}

interface Draft {
  call: ReturnType<typeof buildNewCall>;
  buyer: ImportedBuyer | undefined;
}

/** The call as it is to be written. Throws 422 for unknown references. */
async function readDraft(
  db: Db,
  reported: ImportedCall,
  { startedAt, now }: Times & { now: Date },
): Promise<Draft> {
  const { offerReference, ...incoming } = await readIncomingCall(db, reported, startedAt);
  const source =
    offerReference === undefined
      ? incoming
      : { ...incoming, offer_id: await findOffer(db, offerReference) };
  const context = (await loadRouting(db, { ...toRoutingRequest(source), now }))!;
  const { facts } = context;
  return {
    call: buildNewCall(source, { facts, reservation: undefined }, startedAt),
    buyer: reported.buyer_id ? await readBuyer(db, reported.buyer_id, context) : undefined,
  };
}

async function readBuyer(
  db: Db,
  reference: string,
  { basis }: Pick<RoutingContext, 'basis'>,
): Promise<ImportedBuyer> {
  const id = await findNamed(db, 'buyers', { reference, field: 'buyer_id' });
  const { name, number, user_buyer_id, timeout_seconds } = await db.prisma.buyer.findUniqueOrThrow({
    where: { company_id_id: { company_id: db.company_id, id } },
  });
  // The group through which the offer reaches it, whose caps count too.
  const row = basis.rows.find((candidate) => candidate.id === Number(id));
  return {
    ...{ name, user_buyer_id, timeout_seconds },
    buyer_id: Number(id),
    buyer_group_id: row?.group_id ?? null,
    number: number ?? '',
  };
}

/** Writes a call with its end. One that another request writes meanwhile is left as it is. */
async function writeCall(
  tx: Db,
  { call, buyer }: Draft,
  end: Omit<ImportedEnd, 'owners'>,
): Promise<Outcome> {
  const round = buildImportedRound(call, buyer, end.startedAt);
  const started = await startSingleCall(tx, { call, round, usages: [], payments: [] });
  if (started.kind === 'known') return { result: 'exists', id: started.id, errors: {} };
  if (started.kind !== 'begun') throw new Error(`an imported call was ${started.kind}`);
  const { id } = started;
  const owners = {
    buyer_id: buyer?.buyer_id ?? null,
    buyer_group_id: buyer?.buyer_group_id ?? null,
    traffic_source_id: call.traffic_source_id,
  };
  const state = (await readCallState(tx, id, { may_connect: true })) as CallState;
  const { decide } = await prepareEnd(tx, state, end);
  await retryOnPaymentConflict(decide, (change) =>
    recordChange(tx, countInItsTime(change, { ...end, owners })),
  );
  await recordExceededCaps(tx, id, { ...owners, ...end });
  return { result: 'imported', id, errors: {} };
}

/** Says in the history of the call which caps it exceeds, as far as they still count it. */
async function recordExceededCaps(
  tx: Db,
  callId: number,
  { startedAt, now, ...owners }: ImportedEnd['owners'] & { startedAt: Date; now: Date },
): Promise<void> {
  const { buyer_id, buyer_group_id, traffic_source_id } = owners;
  const rows = await tx.sql(LIST_EXCEEDED_CAPS, {
    ...{ buyer_id, buyer_group_id, traffic_source_id, started_at: startedAt, now },
  });
  if (rows.length === 0) return;
  const texts = rows.map(({ cap, used, limit }) => `${cap} (${used} of ${limit})`);
  await recordEvent(tx, {
    ...{ call_id: callId, now: startedAt, event: 'over_cap' },
    message: `counted beyond ${texts.join(', ')}`,
    details: { caps: rows },
  });
}
