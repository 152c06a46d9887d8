import type { DueLead } from './load-leads';
import type { ContactState } from './lock-contacts';
import type { LeadState, Recording } from './record-steps';
import {
  done,
  isAttempt,
  type Action,
  type ExitReason,
  type Plan,
  type Progress,
} from '../schedules/engine/cadence';
import type { OfferVerdict } from '../schedules/engine/offer-next-step';
import type { TurnEvent } from '../schedules/engine/next-step';
import { draft, draftCall, type Draft, type Edges, type Fault, type Sent } from './deliver';
import { planFor, turnOf, type NumberColumn, type OutreachContext } from './context';

/** How a draft is dealt with: sent at once, or left for the lead's next turn, which follows at once. */
export type Courier = (lead: DueLead, draft: Draft) => Promise<Sent | 'next turn'>;

export interface Errand {
  world: OutreachContext;
  contact: ContactState;
  edges: Edges;
  courier: Courier;
  /** Until when a lead is kept that is to have its next turn at once. */
  lease_until: Date;
}

/** What a lead's turn came to. */
export interface Advanced {
  lead: DueLead;
  state: LeadState;
  made: Omit<Recording, 'leads' | 'contacts'>;
  /** Webhooks by their place among the logs of the turn. */
  webhooks: number[];
  contact_changes: ('opt_out' | 'block')[];
  /** Id of the schedule it goes over to. */
  move_to: string | undefined;
  counts: { calls: number; sms: number; emails: number };
}

/** When a lead is looked at again for which it cannot be worked out what is due. */
export const FAULTY_MS = 600_000;
/** More steps than any sane schedule does at once: what goes on after them is done in the next round. */
const MOST_STEPS = 50;
const MOST_TRIES = 8;
const FIRST_RETRY_MS = 15_000;
const LONGEST_RETRY_MS = 3_600_000;

const iso = (time: Date | null | undefined): string | null => time?.toISOString() ?? null;

/** Does all that is to be done for a locked lead now, step after step, until it waits, stops or ends. */
export async function advanceLead(locked: DueLead, errand: Errand): Promise<Advanced> {
  const { world, contact } = errand;
  const turns = new Turns(locked, errand);
  if (world.isOrphan(locked)) return turns.finish('disabled');
  const plan = planFor(world, locked);
  for (let n = 0; n < MOST_STEPS; n++) {
    const facts = {
      now: world.now,
      zones: locked.zones,
      standing: world.standingOf(turns.lead, contact),
    };
    const { progress, events, verdict } = turnOf(turns.lead, turns.progress, plan, facts);
    turns.proceed(progress, events);
    const ended = await turns.obey(verdict, plan);
    if (ended) return turns.result();
  }
  return turns.later({ at: world.now }).result();
}

/** The turn of a lead for which it cannot be worked out what is due: it is put off, and nothing else of it changes. */
export const putOff = (locked: DueLead, errand: Errand): Advanced =>
  new Turns(locked, errand).putOff();

/** The turns of one lead, as they are taken. */
class Turns {
  lead: DueLead;
  progress: Progress;
  private readonly advanced: Advanced;

  constructor(
    private readonly locked: DueLead,
    private readonly errand: Errand,
  ) {
    this.lead = { ...locked };
    this.progress = { ...locked, not_before: locked.next_action_at };
    const made = {
      text_messages: [],
      emails: [],
      calls: [],
      logs: [],
      callbacks: [],
      numbers: [],
      given_up: [],
    };
    const counts = { calls: 0, sms: 0, emails: 0 };
    this.advanced = {
      lead: locked,
      state: stateOf(locked),
      made,
      webhooks: [],
      contact_changes: [],
      move_to: undefined,
      counts,
    };
  }

  private get state(): LeadState {
    return this.advanced.state;
  }

  private get now(): Date {
    return this.errand.world.now;
  }

  result(): Advanced {
    const { phase, position, exit_reason, contact_attempts, entered_at, callback_at } =
      this.progress;
    Object.assign(this.state, {
      phase,
      position: position === Infinity ? Number.MAX_VALUE : position,
      exit_reason,
      contact_attempts,
      entered_at: iso(entered_at),
      callback_at: iso(callback_at),
    });
    return this.advanced;
  }

  proceed(progress: Progress, events: readonly TurnEvent[]): void {
    const { callback_at, phase, position } = this.progress;
    if (callback_at && !progress.callback_at)
      this.dropCallback('canceled', 'the lead may not be called back');
    // What was being tried is passed over.
    if (this.state.tries > 0 && (phase !== progress.phase || position !== progress.position))
      this.giveUp();
    this.progress = progress;
    for (const event of events) {
      this.log(event.event, wordsOf(event), event.action);
      if (event.event !== 'skipped') continue;
      if (event.reason === 'suppressed') this.state.suppressed = true;
      if (event.reason === 'no_email' || event.reason === 'no_number')
        this.state.unreachable = true;
    }
  }

  /** Answers whether the lead's turn is over. */
  async obey(verdict: OfferVerdict, plan: Plan): Promise<boolean> {
    switch (verdict.kind) {
      case 'contact':
        return this.contact(verdict.action);
      case 'webhook':
        this.advanced.webhooks.push(this.advanced.made.logs.length);
        this.log('webhook_queued', null, verdict.action);
        this.acted();
        return false;
      case 'opt_out':
      case 'block':
        this.changeContact(verdict.kind, verdict.action);
        return false;
      case 'move':
        this.advanced.move_to = this.rowOf(verdict.action).to_schedule_id!;
        this.later({ at: this.now });
        return true;
      case 'park':
        this.park(verdict.reason);
        return true;
      case 'queue':
        this.wait('queue', verdict.at ?? null, null);
        this.state.next_action_at = null;
        return true;
      case 'later':
        this.later(verdict);
        return true;
      case 'end':
        this.finish(finalStatus(this.state, verdict.reason, this.lead, plan));
        return true;
    }
  }

  later({ at, reason, action }: { at: Date; reason?: string; action?: Action }): this {
    const { not_before } = this.progress;
    this.wait(reason ? 'scheduled' : 'waiting', at, reason ?? null);
    // Looked at earlier only because it may expire: what it waits for is later.
    this.state.next_action_at = iso(not_before && not_before > at ? not_before : at);
    const began = action?.type === 'wait' && this.progress.position !== this.locked.position;
    if (began) this.log('waiting', `until ${at.toISOString()}`, action);
    else if (reason && reason !== this.locked.delay_reason)
      this.log('delayed', `${reason} until ${at.toISOString()}`, action);
    return this;
  }

  finish(status: string): Advanced {
    Object.assign(this.state, {
      status,
      is_live: false,
      due_at: null,
      next_action_at: null,
      delay_reason: null,
      schedule_ended_at: iso(this.now),
    });
    if (this.progress.callback_at) this.dropCallback('canceled', 'the lead has ended');
    const { carrier, mailer } = this.errand.edges;
    if (this.state.tries > 0 || !carrier.instant || !mailer.instant) this.giveUp();
    this.log('ended', status);
    return this.result();
  }

  putOff(): Advanced {
    const at = new Date(this.now.getTime() + FAULTY_MS);
    if (this.state.delay_reason !== 'fault')
      this.log(
        'delayed',
        `it cannot be worked out what is due: tried again at ${at.toISOString()}`,
      );
    Object.assign(this.state, { due_at: iso(at), delay_reason: 'fault' });
    return this.result();
  }

  private giveUp(): void {
    const { company_id, id } = this.lead;
    this.state.tries = 0;
    this.advanced.made.given_up.push({ company_id, lead_id: id });
  }

  private wait(status: string, due_at: Date | null, delay_reason: string | null): void {
    const running = this.state.status === 'running' && status === 'waiting';
    Object.assign(this.state, {
      status: running ? 'running' : status,
      due_at: iso(due_at),
      delay_reason,
    });
  }

  private park(status: 'blocked' | 'opt_out' | 'disabled'): void {
    const { not_before } = this.progress;
    Object.assign(this.state, {
      status,
      due_at: null,
      delay_reason: null,
      next_action_at: iso(not_before),
    });
    const events = {
      blocked: ['blocked', 'its number is on the blacklist'],
      opt_out: ['opted_out', 'its number has opted out'],
      disabled: ['disabled', 'its offer or schedule is paused'],
    };
    const by_itself = this.advanced.contact_changes.some(
      (change) => status === (change === 'block' ? 'blocked' : change),
    );
    if (!by_itself) this.log(events[status][0]!, events[status][1]);
  }

  private changeContact(change: 'opt_out' | 'block', action: Action): void {
    this.advanced.contact_changes.push(change);
    // The same object for all leads of the number in this round.
    this.errand.contact[change === 'block' ? 'blocked' : 'opt_out'] = true;
    this.log(change === 'block' ? 'blocked' : 'opted_out', 'by its schedule', action);
    this.acted();
  }

  private async contact(action?: Action): Promise<boolean> {
    const { world, edges, courier } = this.errand;
    const meant = action ? draft(this.lead, this.rowOf(action), { world, edges }) : this.callback();
    if ('fault' in meant) {
      this.state.unreachable = true;
      this.log(action ? `${EVENTS[tableOf(action)]}_failed` : 'call_failed', meant.fault, action);
      this.completed(action, undefined);
      return false;
    }
    const sent = await courier(this.lead, meant);
    if (sent === 'next turn') return this.stay();
    if (!sent.ok && sent.retryable && this.state.tries + 1 < MOST_TRIES)
      return this.retry(sent, action);
    this.record(sent, action);
    // What texts say of calls is to be true of this one too.
    const is_stale = meant.table === 'calls' && (world.scheduleOf(this.lead)?.uses_calls ?? false);
    if (is_stale) this.later({ at: this.now });
    return is_stale;
  }

  private callback(): Draft | Fault {
    const { world, edges } = this.errand;
    const connection = world.connectionOf(this.lead);
    return connection
      ? draftCall(this.lead, connection, { world, edges })
      : { fault: 'there is nobody to whom the callback could be connected' };
  }

  private stay(): true {
    this.state.keeps_claim = true;
    this.state.due_at = iso(this.errand.lease_until);
    return true;
  }

  private retry(sent: Sent, action?: Action): true {
    const wait = Math.min(FIRST_RETRY_MS * 2 ** this.state.tries, LONGEST_RETRY_MS);
    this.add(sent.draft);
    this.state.tries += 1;
    this.later({
      at: new Date(this.now.getTime() + wait),
      reason: 'carrier',
      ...(action && { action }),
    });
    // The step itself is due: only its next try waits.
    if (this.progress.callback_at) this.state.next_action_at = iso(this.progress.not_before);
    return true;
  }

  private record(sent: Sent, action?: Action): void {
    // Tried in vain as often as it may be.
    const { draft: meant, ok } =
      sent.ok || !sent.retryable
        ? sent
        : {
            ...sent,
            draft: { ...sent.draft, row: { ...sent.draft.row, status: 'failed' } } as Draft,
          };
    const { row, table } = meant;
    this.add(meant);
    const words =
      row.error_code || row.error_message
        ? `${row.status}: ${row.error_message ?? row.error_code}`
        : row.status;
    const link = { [LINKS[table]]: row.uuid };
    this.log(
      `${EVENTS[table]}_${ok ? (table === 'calls' ? 'placed' : 'sent') : 'failed'}`,
      words,
      action,
      link,
    );
    if (ok) this.reached(meant);
    else if (row.status !== 'unknown') this.state.unreachable = true;
    this.completed(action, table === 'calls' ? row.uuid : undefined);
  }

  private reached(meant: Draft): void {
    this.acted();
    this.advanced.counts[COUNTS[meant.table]] += 1;
    if (meant.table === 'emails') return;
    this.give(meant.row.from_number, meant.column);
    if (meant.table !== 'calls') return;
    const { status, uuid } = meant.row;
    Object.assign(this.state, { last_call_at: iso(this.now), attempted_call: uuid });
    if (status === 'in_progress' || status === 'completed') this.state.connected_call = uuid;
    if (status === 'queued' || status === 'ringing' || status === 'in_progress')
      this.state.status = 'running';
  }

  /** A lead keeps the number that it was contacted from. */
  private give(digits: string, column: NumberColumn): void {
    const number = this.errand.world.ownNumber(this.lead, digits);
    if (!number || this.state[column] === number.id) return;
    this.state[column] = this.lead[column] = number.id;
    number.last_assigned_at = this.now;
    this.advanced.made.numbers.push({ company_id: this.lead.company_id, id: number.id });
  }

  /** The step is behind the lead, whatever came of it. */
  private completed(action: Action | undefined, call: string | undefined): void {
    this.state.tries = 0;
    if (action) {
      this.progress = done(this.progress, action);
      this.state.step = this.lead.step += 1;
      return;
    }
    this.dropCallback(call ? 'done' : 'canceled', null, call);
    this.progress = {
      ...this.progress,
      callback_at: null,
      contact_attempts: this.progress.contact_attempts + (call ? 1 : 0),
    };
  }

  private dropCallback(status: string, why: string | null, call?: string): void {
    const { scheduled_callback_id: id, company_id } = this.lead;
    if (why) this.log('skipped', `callback: ${why}`);
    if (id) this.advanced.made.callbacks.push({ company_id, id, status, ...(call && { call }) });
    this.lead.scheduled_callback_id = null;
    this.state.called_back = true;
  }

  private acted(): void {
    this.state.first_action_at ??= iso(this.now);
    this.state.last_action_at = iso(this.now);
  }

  private add(meant: Draft): void {
    (this.advanced.made[meant.table] as Draft['row'][]).push(meant.row);
  }

  private rowOf({ id }: Action) {
    return this.errand.world.scheduleOf(this.lead)!.rows.get(id)!;
  }

  private log(
    event: string,
    message?: string | null,
    action?: Action,
    link: { call?: string; text_message?: string; email?: string } = {},
  ): void {
    const { company_id, id } = this.lead;
    this.advanced.made.logs.push({
      company_id,
      lead_id: id,
      event,
      message: message ?? null,
      schedule_action_id: action ? String(action.id) : null,
      ...link,
    });
  }
}

const EVENTS = { text_messages: 'sms', calls: 'call', emails: 'email' } as const;
const LINKS = { text_messages: 'text_message', calls: 'call', emails: 'email' } as const;
const COUNTS = { text_messages: 'sms', calls: 'calls', emails: 'emails' } as const;
const tableOf = ({ type }: Action): Draft['table'] =>
  type === 'email' ? 'emails' : isAttempt(type) && type === 'dial' ? 'calls' : 'text_messages';

function wordsOf(event: TurnEvent): string | null {
  if (event.event === 'restarted') return 'by its schedule';
  return event.reason;
}

function stateOf(lead: DueLead): LeadState {
  const {
    company_id,
    id,
    status,
    phase,
    position,
    exit_reason,
    contact_attempts,
    suppressed,
    unreachable,
    step,
    tries,
    sms_number_id,
    dial_number_id,
  } = lead;
  return {
    company_id,
    id,
    status,
    is_live: true,
    due_at: null,
    next_action_at: iso(lead.next_action_at),
    callback_at: iso(lead.callback_at),
    entered_at: iso(lead.entered_at)!,
    first_action_at: iso(lead.first_action_at),
    last_action_at: iso(lead.last_action_at),
    last_call_at: iso(lead.last_call_at),
    schedule_ended_at: null,
    phase,
    position,
    exit_reason,
    contact_attempts,
    delay_reason: lead.delay_reason,
    suppressed,
    unreachable,
    step,
    tries,
    sms_number_id,
    dial_number_id,
    attempted_call: null,
    connected_call: null,
    called_back: false,
    keeps_claim: false,
  };
}

/** What a lead that has done its schedule is called. */
function finalStatus(
  state: LeadState,
  reason: ExitReason,
  lead: DueLead,
  { actions }: Plan,
): string {
  if (reason !== 'completed') return reason;
  if (lead.buyer_converted) return 'completed_converted';
  if (state.connected_call ?? lead.connected_call_id) return 'completed_connected';
  if (state.attempted_call ?? lead.attempted_call_id) return 'completed_attempted';
  if (state.first_action_at !== null || actions.length === 0) return 'completed';
  return state.suppressed ? 'dnc' : state.unreachable ? 'failure' : 'completed';
}
