import { ChoiceLinks, useChoice } from '../parts/choice-links';
import { linkTo } from '../route';
import { useSession } from '../session';
import { BuyNumber } from './buy-number';
import { EnterNumber } from './enter-number';
import { ImportNumbers } from './import-numbers';

const BUYING = { buy: 'Buy a number' };
/** Only superusers enter numbers that were not bought here. */
const ENTERING = { enter: 'Enter a number you have', import: 'Enter many' };

/** A phone number is bought, or entered where the company has it at its carrier already. */
export function NewNumber() {
  const { me } = useSession();
  const choices = me.superuser ? { ...BUYING, ...ENTERING } : BUYING;
  const chosen = useChoice(choices);
  return (
    <>
      <p>
        <a href={linkTo('phone_numbers')}>All phone numbers</a>
      </p>
      <h1>New phone number</h1>
      {me.superuser && (
        <ChoiceLinks label="How to get a number" choices={choices} chosen={chosen} />
      )}
      {chosen === 'buy' && <BuyNumber />}
      {chosen === 'enter' && <EnterNumber />}
      {chosen === 'import' && <ImportNumbers />}
    </>
  );
}
