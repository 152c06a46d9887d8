import { useState } from 'preact/hooks';
import { Field } from '../parts/basics';
import { LabeledReference } from '../parts/labeled-reference';
import { Select } from '../parts/select';
import { useSession } from '../session';
import type { Json } from '../transport';

const TARGETS = { offer_id: 'To an offer', buyer_id: 'Straight to a buyer' } as const;

interface Target {
  name: string;
  forward_type: keyof typeof TARGETS;
  offer_id: string;
  buyer_id: string;
  traffic_source_id: string;
}

/** People should know before they buy the number, or print it. */
export const LEADS_NOWHERE =
  'Calls to this number are turned away until it has an offer, or a buyer of its own.';

const NOWHERE: Target = {
  name: '',
  forward_type: 'offer_id',
  offer_id: '',
  buyer_id: '',
  traffic_source_id: '',
};

/** Where the calls of a new number go; `toBody` has what the API takes of it. */
export function useNumberTarget() {
  const [target, setTarget] = useState(NOWHERE);
  return {
    target,
    change: (part: Partial<Target>) => setTarget((before) => ({ ...before, ...part })),
    toBody: (): Json => {
      const { name, forward_type: type, traffic_source_id: source } = target;
      const id = target[type];
      return {
        ...(name.trim() !== '' && { name: name.trim() }),
        ...(id !== '' && { forward_type: type, [type]: id }),
        ...(source !== '' && { traffic_source_id: source }),
      };
    },
  };
}

type TargetProps = Pick<ReturnType<typeof useNumberTarget>, 'target' | 'change'>;

/** Label, target and traffic source of a new number. */
export function NumberTarget({ target, change }: TargetProps) {
  const { may } = useSession();
  const { forward_type: type } = target;
  const leadsNowhere = target[type] === '';
  return (
    <div class="group-fields">
      <Field
        label="Label"
        maxLength={255}
        placeholder="Billboard, Main Street"
        value={target.name}
        onInput={(event) => change({ name: event.currentTarget.value })}
      />
      {may('phone_numbers:routing') && (
        <>
          <Select
            label="Its calls go"
            choices={TARGETS}
            value={type}
            onChange={(value) => change({ forward_type: value as Target['forward_type'] })}
          />
          <LabeledReference
            label={type === 'offer_id' ? 'Offer' : 'Buyer'}
            key={type}
            noun={type === 'offer_id' ? 'offers' : 'buyers'}
            value={target[type]}
            onChange={(value) => change({ [type]: value })}
          />
          <LabeledReference
            label="Traffic source"
            noun="traffic_sources"
            value={target.traffic_source_id}
            onChange={(value) => change({ traffic_source_id: value })}
          />
          {leadsNowhere && <p class="notice warn whole">{LEADS_NOWHERE}</p>}
        </>
      )}
    </div>
  );
}
