import { wordedChoice } from '../editors/worded-choice';
import { RecordName } from '../noun/record-name';
import { TrunkState } from '../views/switches/trunk-state';
import type { Json } from '../transport';
import { noun } from './layout';
import { describePaused, stateColumn, type State } from './states';

const describeTrunk = (trunk: Json): State => {
  const isDown = trunk.down_until !== null && Date.parse(trunk.down_until as string) > Date.now();
  return isDown ? { text: 'avoided', tone: 'bad' } : describePaused(trunk);
};

const CALLER_ID_RULES = {
  pass: 'Show the caller',
  fixed: 'Show one number',
  withheld: 'Show nothing',
};

export const trunks = noun({
  noun: 'trunks',
  words: { singular: 'trunk', plural: 'trunks', also: 'a carrier or gateway' },
  about:
    'A way out for calls: a gateway of your carrier, the numbers that it leads to, and its limits.',
  title: ({ name }) => String(name),
  groups: [
    {
      title: 'Trunk',
      fields: [
        { field: 'name', help: 'Unique among yours.' },
        {
          field: 'host',
          label: 'Gateway',
          placeholder: 'sip.carrier.example:5060',
          help: 'Host and port, or the name under which the switch knows it.',
        },
        { field: 'switch_id', label: 'Switch', help: 'Empty: all of your switches.' },
        {
          field: 'position',
          label: 'Order',
          help: 'The lowest is tried first.',
        },
      ],
    },
    {
      title: 'Where it leads',
      help: 'With none of these, it leads everywhere.',
      fields: [
        {
          field: 'countries',
          label: 'Countries',
          placeholder: 'US',
          help: 'Two letters each.',
        },
        {
          field: 'prefixes',
          label: 'Numbers that begin with',
          placeholder: '1310',
          help: 'Country code first, without +.',
        },
      ],
    },
    {
      title: 'How it is dialed',
      fields: [
        { field: 'dial_prefix', label: 'Before the digits of a number', help: '+ in most cases.' },
        {
          field: 'caller_id_rule',
          label: 'Caller ID',
          editor: wordedChoice(CALLER_ID_RULES),
          help: '',
        },
        {
          field: 'caller_id',
          label: 'The number that is shown',
          help: '',
          when: ({ caller_id_rule: rule }) => rule === 'fixed',
        },
        { field: 'headers', label: 'SIP headers', help: '' },
      ],
    },
    {
      title: 'Limits',
      fields: [
        { field: 'max_calls', label: 'Calls at once', help: 'Empty: no limit.' },
        { field: 'max_calls_per_second', label: 'New calls a second', help: 'Empty: no limit.' },
      ],
    },
  ],
  hidden: ['paused'],
  columns: [
    'name',
    stateColumn('paused', describeTrunk, ['down_until']),
    { name: 'host', title: 'Gateway' },
    {
      name: 'switch_id',
      title: 'Switch',
      show: ({ switch_id: id }) => (id === null ? 'any' : <RecordName noun="switches" id={id} />),
    },
    { name: 'position', title: 'Order' },
    { name: 'calls_in_use', title: 'Calls' },
    { name: 'countries', title: 'Countries' },
  ],
  copy: { except: [] },
  state: describeTrunk,
  stateNeeds: ['paused', 'down_until'],
  panels: [TrunkState],
});
