import type { ComponentChild } from 'preact';
import type { FieldContract, Fields } from '../../noun-contract';
import { count, sentence } from '../format';
import { RecordName } from '../noun/record-name';
import type { FieldLayout, GroupLayout, NounLayout } from '../nouns/layout';
import type { Json } from '../transport';
import { findLabel } from './field';
import type { Values } from './model';

interface FoldedSummaryProps {
  group: GroupLayout;
  /** The fields of the group that are not as they are by default. */
  entries: readonly FieldLayout[];
  layout: NounLayout;
  fields: Fields;
  inputs: Values;
  record: Json;
}

/** The contents of a folded group in one line. */
export function FoldedSummary({ group, entries, inputs, ...props }: FoldedSummaryProps) {
  const { layout, fields, record } = props;
  const Summary = group.summary;
  if (Summary && record.id !== undefined)
    return (
      <small class="quiet summary">
        <Summary record={record} />
      </small>
    );
  if (entries.length === 0)
    return <small class="quiet summary">{group.whenEmpty ?? 'as usual'}</small>;
  return (
    <small class="quiet summary">
      {entries.map(({ field: name }, index) => (
        <span key={name}>
          {index > 0 && '; '}
          {findLabel(layout, name)}
          {describeValue(fields[name]!, inputs[name])}
        </span>
      ))}
    </small>
  );
}

const MAX_CHARACTERS = 40;
const MAX_NAMES = 3;

/** A value that can be said shortly; of others, that they are set is enough. */
function describeValue(field: FieldContract, value: unknown): ComponentChild {
  const noun = field.reference ?? field.items?.reference;
  if (noun !== undefined) return nameRecords(noun, Array.isArray(value) ? value : [value]);
  if (typeof value === 'boolean') return value ? '' : ': no';
  if (Array.isArray(value)) return `: ${count(value.length)}`;
  if (typeof value !== 'string' || value === '' || value.length > MAX_CHARACTERS) return '';
  return `: ${field.enum ? sentence(value) : value}`;
}

const nameRecords = (noun: string, ids: readonly unknown[]): ComponentChild => (
  <>
    {ids.slice(0, MAX_NAMES).map((id, index) => (
      <>
        {index === 0 ? ': ' : ', '}
        <RecordName noun={noun} id={id} isPlain />
      </>
    ))}
    {ids.length > MAX_NAMES && ` and ${ids.length - MAX_NAMES} more`}
  </>
);
