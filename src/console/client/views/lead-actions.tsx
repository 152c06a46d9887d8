import { ok, withTag, type Schemas } from '../api';
import { Done, Problem } from '../parts/basics';
import { useAction } from '../loading';
import { useSession, type Session } from '../session';

type Lead = Schemas['Lead'];

interface Action {
  name: string;
  /** Question that the user confirms first; absent where none is needed. */
  confirmation?: string;
  run: () => Promise<string>;
}

interface ActionsProps {
  lead: Lead;
  tag: string;
  reload: () => Promise<void>;
}

/** The actions on a lead that the caller may run. */
export function LeadActions({ lead, tag, reload }: ActionsProps) {
  const session = useSession();
  const { run, is_busy, error, done } = useAction(async (action: Action) => {
    if (action.confirmation !== undefined && !confirm(action.confirmation)) return undefined;
    const said = await action.run();
    await reload();
    return said;
  });
  const actions = listActions(session, lead, tag);
  return (
    <div class="actions">
      {actions.map((action) => (
        <button key={action.name} type="button" disabled={is_busy} onClick={() => void run(action)}>
          {action.name}
        </button>
      ))}
      <Problem error={error} onReload={reload} />
      <Done text={done} />
    </div>
  );
}

function listActions({ api, may }: Session, lead: Lead, tag: string): Action[] {
  const id = String(lead.id);
  const change = async (body: Schemas['LeadUpdate']) => {
    const params = { path: { id }, header: { 'If-Match': tag } };
    await withTag(api.PUT('/leads/{id}', { params, body }));
  };
  const actions: Action[] = [];
  if (may('leads:update') && lead.is_live && lead.schedule_id !== null)
    actions.push(
      {
        name: 'Do the next step now',
        run: async () => {
          await change({ next_action_at: new Date().toISOString() });
          return 'The next step is due now.';
        },
      },
      {
        name: 'Start the schedule again',
        run: async () => {
          await change({ restart_schedule: true });
          return 'The schedule begins again.';
        },
      },
    );
  if (may('schedules:read') && lead.is_live && lead.schedule_id !== null)
    actions.push({ name: 'Move to the end', run: () => moveToEnd(api, lead) });
  if (may('calls:create') && !lead.opt_out && !lead.blocked)
    actions.push({
      name: 'Call now',
      run: async () => {
        const { call } = await ok(api.POST('/calls', { body: { lead_id: id } }));
        return `Call ${call.id} is placed.`;
      },
    });
  if (may('leads:update'))
    actions.push(
      lead.opt_out
        ? {
            name: 'Opt in again',
            run: () => change({ opt_out: false }).then(() => 'Opted in again.'),
          }
        : {
            name: 'Opt out',
            confirmation: `Opt ${lead.caller_id ?? 'this number'} out, for the whole company?`,
            run: () => change({ opt_out: true }).then(() => 'Opted out: nothing more goes out.'),
          },
    );
  return actions;
}

/** Needs the lead token of its schedule. */
async function moveToEnd(api: Session['api'], lead: Lead): Promise<string> {
  const { schedule } = await ok(
    api.GET('/schedules/{id}', { params: { path: { id: String(lead.schedule_id) } } }),
  );
  const path = { caller_id: lead.caller_id! };
  const query = { lead_token: schedule.lead_token! };
  await ok(
    api.PUT('/leads/{caller_id}/caller_move_to_end_of_schedule', { params: { path, query } }),
  );
  return 'It goes on with the steps at the end of the schedule.';
}
