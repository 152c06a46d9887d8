import { Progress } from '../parts/progress';
import type { Schemas } from '../api';
import { AddCaller } from '../views/add-caller';
import { NewSuppressionList } from '../views/new-suppression-list';
import { SuppressionFile } from '../views/suppression-file';
import { SuppressionFiles } from '../views/suppression-files';
import { SuppressionNumbers } from '../views/suppression-numbers';
import { UploadNumbers } from '../views/upload-numbers';
import { noun } from './layout';
import { countIds, MEMBER_FIELDS } from './shared-groups';

export const buyerSuppressions = noun({
  noun: 'buyer_suppressions',
  words: {
    singular: 'suppression list',
    plural: 'suppression lists',
    also: 'a DNC or do-not-call list',
  },
  about:
    'Calls from the numbers of a suppression list do not go to its buyers and offers, and its leads are not contacted.',
  title: ({ name, id }) => (name as string | null) ?? `List ${String(id)}`,
  groups: [
    {
      title: 'Suppression list',
      fields: ['name'],
    },
    {
      title: 'For whom it holds',
      fields: [
        { field: 'offer_ids', label: 'Offers', help: 'Calls of its numbers to them are refused.' },
        { field: 'buyer_ids', label: 'Buyers', help: 'They get no calls from its numbers.' },
        { field: 'schedule_ids', label: 'Schedules', help: 'They contact none of its numbers.' },
      ],
    },
  ],
  hidden: ['caller_id_column_name', 'headers', ...MEMBER_FIELDS],
  columns: [
    'name',
    { name: 'blocked', title: 'Numbers' },
    { name: 'status', title: 'Last upload' },
    { name: 'offer_ids', title: 'Offers', show: ({ offer_ids: ids }) => countIds(ids) },
    { name: 'buyer_ids', title: 'Buyers', show: ({ buyer_ids: ids }) => countIds(ids) },
    { name: 'updated_at', title: 'Changed' },
  ],
  panels: [SuppressionNumbers, SuppressionFiles],
  listPanels: [AddCaller],
  creator: NewSuppressionList,
});

const TONES = { succeeded: 'good', failed: 'bad', stopped: 'warn' } as const;

export const suppressionFiles = noun({
  noun: 'buyer_suppression_files',
  words: { singular: 'upload', plural: 'uploads', also: 'a suppression file' },
  about: 'Files of numbers that were put on suppression lists, or taken off them.',
  title: ({ name, id }) => (name as string | null) ?? `File ${String(id)}`,
  groups: [
    {
      title: 'Upload',
      help: 'A file whose list, column or direction changes is read again from its first row.',
      fields: [
        'name',
        { field: 'buyer_suppression_id', label: 'Suppression list' },
        {
          field: 'apply_block_or_unblock',
          label: 'The numbers are',
          help: 'Put on the list (block), or taken off it (unblock).',
        },
        {
          field: 'caller_id_column_name',
          label: 'Column of the numbers',
          help: 'Two columns, area code and number, count as one: “area code,number”.',
        },
      ],
    },
    {
      title: 'A file without a row of names',
      isClosed: true,
      fields: [
        {
          field: 'headers',
          label: 'Names of its columns',
          help: 'From left to right, separated by commas.',
        },
      ],
    },
  ],
  hidden: ['import_file'],
  columns: [
    'name',
    {
      name: 'import_percent',
      title: 'Progress',
      needs: ['status', 'total_count', 'import_count', 'rejected_count', 'error_message'],
      show: (file) => <Progress file={file as unknown as Schemas['BuyerSuppressionFile']} />,
    },
    { name: 'added_count', title: 'Added' },
    { name: 'removed_count', title: 'Taken off' },
    { name: 'created_at', title: 'Uploaded' },
  ],
  order: 'created_at',
  panels: [SuppressionFile],
  creator: UploadNumbers,
  state: ({ status }) => ({
    text: String(status),
    tone: TONES[status as keyof typeof TONES] ?? 'plain',
  }),
  stateNeeds: ['status'],
});
