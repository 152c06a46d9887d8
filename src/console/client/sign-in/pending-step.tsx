import { useAction } from '../loading';
import { Problem } from '../parts/basics';
import { AskForm, CODE } from './ask-form';
import { sendToGate, type Pending, type SignInState } from './gate';

interface PendingStepProps {
  pending: Pending;
  onState: (state: SignInState) => Promise<void>;
}

/** The steps in which each way to sign in may end: the company, and a second factor. */
export function PendingStep({ pending, onState }: PendingStepProps) {
  const restart = useAction(async () => onState(await sendToGate('DELETE', '/session')));
  return (
    <>
      {pending.state === 'second_factor' ? (
        <AskForm
          fields={[CODE]}
          submit="Go on"
          send={async (body) => onState(await sendToGate('POST', '/session/code', { body }))}
        >
          <h2>Your second factor</h2>
        </AskForm>
      ) : (
        <Companies companies={pending.companies} onState={onState} />
      )}
      <Problem error={restart.error} />
      <button type="button" onClick={() => void restart.run()}>
        Start over
      </button>
    </>
  );
}

interface CompaniesProps {
  companies: readonly { id: number; name: string }[];
  onState: PendingStepProps['onState'];
}

function Companies({ companies, onState }: CompaniesProps) {
  const choose = useAction(async (id: number) =>
    onState(await sendToGate('POST', '/session/company', { body: { company_id: id } })),
  );
  return (
    <section class="panel">
      <h2>Which company?</h2>
      <Problem error={choose.error} />
      {companies.map(({ id, name }) => (
        <button
          key={id}
          type="button"
          disabled={choose.is_busy}
          onClick={() => void choose.run(id)}
        >
          {name}
        </button>
      ))}
    </section>
  );
}
