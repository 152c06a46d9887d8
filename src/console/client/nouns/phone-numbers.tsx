import { wordedChoice } from '../editors/worded-choice';
import { Badge } from '../parts/basics';
import { linkTo } from '../route';
import type { Json } from '../transport';
import { NewNumber } from '../views/new-number';
import { LEADS_NOWHERE } from '../views/number-target';
import { PracticeNotice } from '../views/practice-notice';
import { buildTestLink } from './actions';
import { noun, type PanelProps } from './layout';

const TARGETS = { offer_id: 'Offer', buyer_id: 'Buyer' };

const findTarget = ({ forward_type: type, offer, offer_id, buyer, buyer_id }: Json) =>
  type === 'buyer_id'
    ? { noun: 'buyers', id: buyer_id, name: buyer }
    : { noun: 'offers', id: offer_id, name: offer };

/** The page of a number without a target says what comes of its calls. */
function NowherePanel({ record }: PanelProps) {
  if (findTarget(record).id !== null) return null;
  return <p class="notice warn whole">{LEADS_NOWHERE} Choose it below.</p>;
}

export const phoneNumbers = noun({
  noun: 'phone_numbers',
  words: { singular: 'phone number', plural: 'phone numbers', also: 'a tracking number or DID' },
  about: 'Callers ring a phone number; it leads to an offer, or straight to a buyer.',
  title: ({ phone_number: number, name }) =>
    [number ?? 'Phone number', name].filter(Boolean).map(String).join(', '),
  groups: [
    {
      title: 'Phone number',
      fields: [
        { field: 'name', label: 'Label', placeholder: 'Billboard, Main Street' },
        {
          field: 'traffic_source_id',
          label: 'Traffic source',
          help: 'Its calls are counted for this source.',
        },
      ],
    },
    {
      title: 'Where its calls go',
      fields: [
        { field: 'forward_type', label: 'To', editor: wordedChoice(TARGETS) },
        {
          field: 'offer_id',
          label: 'Offer',
          when: ({ forward_type: type }) => type !== 'buyer_id',
        },
        {
          field: 'buyer_id',
          label: 'Buyer',
          help: 'All its calls go to this buyer, whatever its order, hours and caps are.',
          when: ({ forward_type: type }) => type === 'buyer_id',
        },
      ],
    },
  ],
  hidden: ['requested_number', 'number', 'country', 'toll_free', 'prefix'],
  columns: [
    { name: 'phone_number', title: 'Number' },
    { name: 'name', title: 'Label' },
    {
      name: 'offer',
      title: 'Calls go to',
      needs: ['offer_id', 'buyer', 'buyer_id', 'forward_type'],
      show: showTarget,
    },
    { name: 'traffic_source', title: 'Traffic source' },
    { name: 'country', title: 'Country' },
    { name: 'toll_free', title: 'Toll-free' },
    { name: 'carrier', title: 'Carrier' },
    { name: 'created_at', title: 'Since' },
  ],
  deletion: {
    title: 'Release',
    consequence:
      'It goes back to the carrier, and calls to it come here no longer. A number that you entered yourself stays with your carrier.',
    done: 'Released.',
  },
  actions: [
    buildTestLink('Test call', 'calls:read', ({ id }) =>
      linkTo('test-call', null, { number_id: String(id) }),
    ),
  ],
  panels: [NowherePanel],
  creator: NewNumber,
  listPanels: [PracticeNotice],
});

function showTarget(number: Json) {
  const { noun: target, id, name } = findTarget(number);
  if (id === null || id === undefined)
    return <Badge tone="warn">nowhere: calls are turned away</Badge>;
  return <a href={linkTo(target, String(id))}>{String(name ?? id)}</a>;
}
