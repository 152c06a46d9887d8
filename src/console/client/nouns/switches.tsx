import { dayTime } from '../format';
import { SwitchState } from '../views/switches/switch-state';
import type { Json } from '../transport';
import { noun } from './layout';
import { stateColumn, type State } from './states';

const MINUTE_MS = 60_000;

/** A switch asks for commands every few seconds, unless they are sent to it. */
const describeSwitch = ({ asked_at: at, webhook_url: url }: Json): State => {
  if (url !== null) return { text: 'gets commands', tone: 'good' };
  if (at === null) return { text: 'never seen', tone: 'plain' };
  const isThere = Date.now() - Date.parse(at as string) < 2 * MINUTE_MS;
  return isThere ? { text: 'connected', tone: 'good' } : { text: 'not connected', tone: 'bad' };
};

export const switches = noun({
  noun: 'switches',
  words: { singular: 'switch', plural: 'switches', also: 'a PBX or softswitch' },
  about:
    'Your own Asterisk, FreeSWITCH or other switch, which reports calls here and takes commands.',
  title: ({ name }) => String(name),
  groups: [
    {
      title: 'Switch',
      fields: [
        {
          field: 'name',
          placeholder: 'tampa-1',
          help: 'Unique among yours. Its adapter is started with this name.',
        },
        {
          field: 'places_calls',
          label: 'May place calls',
          help: 'Calls to leads and from the console can go out through it.',
        },
        {
          field: 'webhook_url',
          label: 'Commands are sent to',
          isWide: true,
          placeholder: 'It asks for them',
          help: 'Only for a switch that cannot ask: signed requests go to this address.',
        },
      ],
    },
  ],
  columns: [
    'name',
    stateColumn('asked_at', describeSwitch, ['webhook_url']),
    { name: 'live_calls', title: 'Calls under way' },
    { name: 'open_commands', title: 'Commands that wait' },
    {
      name: 'synced_at',
      title: 'Said what is live',
      show: ({ synced_at: at }) => dayTime(at as string | null),
    },
    { name: 'places_calls', title: 'May place calls' },
  ],
  state: describeSwitch,
  stateNeeds: ['asked_at', 'webhook_url'],
  panels: [SwitchState],
  secrets: ({ secret }) => [['Secret that signs commands', secret]],
  actions: [
    {
      title: () => 'New secret',
      scope: 'switches:update',
      run: async ({ record, send, reload }) => {
        if (!confirm('Make a new secret? For a day, commands are signed with both.'))
          return undefined;
        await send('POST', `/switches/${String(record.id)}/rotate_secret`);
        await reload();
        return undefined;
      },
    },
  ],
  deletion: {
    title: 'Delete',
    consequence: 'It gets no more commands. Calls that it has reported stay.',
    done: 'Deleted.',
  },
});
