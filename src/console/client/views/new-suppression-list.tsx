import { NewRecordPage } from '../noun/record';
import type { NounLayout } from '../nouns/layout';
import { ChoiceLinks, useChoice } from '../parts/choice-links';
import { useSession } from '../session';
import { UploadNumbers } from './upload-numbers';

const EMPTY = { empty: 'An empty list' };
const CHOICES = { file: 'Upload a file', ...EMPTY };

/** A suppression list with the numbers of a file, or an empty one. */
export function NewSuppressionList({ layout }: { layout: NounLayout }) {
  const { may } = useSession();
  const choices = may('buyer_suppression_files:create') ? CHOICES : EMPTY;
  const chosen = useChoice(choices);
  return (
    <>
      <ChoiceLinks label="How to make the list" choices={choices} chosen={chosen} />
      {chosen === 'file' ? <UploadNumbers /> : <NewRecordPage layout={layout} />}
    </>
  );
}
