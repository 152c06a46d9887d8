import type { FieldContract, Fields, NounContract, Verb } from '../../noun-contract';
import type { Scope } from '../api';
import type { Session } from '../session';

// Permissions of a noun, as the contract states them.

/** True if the API takes the verb from this caller. */
export function mayDo({ me, may }: Session, { verbs }: NounContract, verb: Verb): boolean {
  const operation = verbs[verb];
  if (!operation) return false;
  const isLimited = me.team_ids !== null;
  if (operation.unlimited && isLimited) return false;
  if (operation.company_wide && isLimited && !may('company_wide:update')) return false;
  return operation.scope === undefined || may(operation.scope as Scope);
}

/** True if the caller may write a field of a noun, which is undefined if it is hidden. */
export function mayWriteField(
  session: Session,
  noun: NounContract,
  field: FieldContract | undefined,
): boolean {
  if (!field) return false;
  if (session.me.superuser) return true;
  if (field.superuser) return false;
  const [resource = ''] = (noun.verbs.update ?? noun.verbs.create)?.scope?.split(':') ?? [];
  return (field.permissions ?? []).every(
    (permission) =>
      (permission === 'company' && session.me.team_ids === null) ||
      session.may(`${resource}:${permission}` as Scope),
  );
}

/** A limited caller asks only about offers that can be chosen: those of the caller's teams. */
export const mayTestCalls = ({ me, may }: Session): boolean =>
  may('calls:read') && (me.team_ids === null || may('offers:read'));

/** Fields of the form that a person has use for; the others are for programs. */
export const formFields = (write: Fields, hidden: readonly string[] = []): Fields =>
  Object.fromEntries(
    Object.entries(write).filter(([name]) => !hidden.includes(name) && !NEVER_SHOWN.has(name)),
  );

/** `serializer` shapes the answer; the identity of an imported record is for migrations. */
export const NEVER_SHOWN: ReadonlySet<string> = new Set([
  'serializer',
  'id',
  'legacy_id',
  'uuid',
  'created_at',
  'updated_at',
  'external_record_id',
]);

/** The serializer with all columns, where a noun has several. */
export const fullSerializer = ({ serializers }: NounContract): string | undefined =>
  serializers.find((name) => name.endsWith('_grid'));
