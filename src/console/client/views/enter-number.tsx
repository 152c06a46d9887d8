import { useState } from 'preact/hooks';
import { useAction } from '../loading';
import { Field, Panel, Problem } from '../parts/basics';
import { goTo, linkTo } from '../route';
import { useSession } from '../session';
import { showToast } from '../toast';
import { send, type Json } from '../transport';
import { NumberTarget, useNumberTarget } from './number-target';

/** A number that the company has at its carrier or switch already. */
export function EnterNumber() {
  const { transport } = useSession();
  const [number, setNumber] = useState('');
  const { target, change, toBody } = useNumberTarget();
  const enter = useAction(async () => {
    // Without a number, the API would buy one.
    const body = { number: number.trim(), ...toBody() };
    const { data } = await send(transport, 'POST', '/phone_numbers', { body });
    showToast('The number was entered.');
    goTo(linkTo('phone_numbers', String((data.number as Json).id)));
  });
  const submit = (event: Event) => {
    event.preventDefault();
    if (number.trim() !== '') void enter.run();
  };
  return (
    <Panel title="A number you have">
      <form onSubmit={submit}>
        <p class="quiet">
          Nothing is bought. At your carrier, let the number’s calls come to this server; a switch
          of your own sends them by itself.
        </p>
        <Field
          label="Number"
          type="tel"
          required
          maxLength={100}
          placeholder="(213) 555-0142"
          value={number}
          onInput={(event) => setNumber(event.currentTarget.value)}
        />
        <NumberTarget target={target} change={change} />
        <Problem error={enter.error} />
        <button class="primary" disabled={enter.is_busy || number.trim() === ''}>
          Enter the number
        </button>
      </form>
    </Panel>
  );
}
