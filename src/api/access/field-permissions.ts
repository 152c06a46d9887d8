import {
  contract,
  facets,
  type FieldPermission,
  type Operation,
  type Schema,
} from '../../platform/contract/contract';
import { buildAccessScope, findHidden, mayReportOn } from '../../data/access/scope';
import type { Reference, Table } from '../../data/references';
import { withContext } from '../../data/tenant';
import { type Db } from '../../data/db';
import { fault, HttpProblem, type FieldFault } from '../../platform/errors';
import { isReport, readBodyFields } from './body-fields';
import { recordsInPath } from './visible-references';
import { COMPANY_WIDE, type Caller } from '../auth/caller';

// Fields with x-field-permission are written only by callers who have that permission, and a
// limited caller only on records of the teams that give it. An operation without a scope, such as
// a submission by lead token, only has fields of the whole company: limited callers cannot write
// them.

interface Request {
  operation: Pick<Operation, 'path' | 'scope' | 'body' | 'multipart'>;
  params: Record<string, unknown>;
  body: unknown;
  /** The request came with `import_file`. */
  has_file?: boolean;
}

/** Throws 422 with every field that the caller may not write. */
export async function requireFieldPermissions(
  db: Db,
  caller: Caller,
  { operation, params, body, has_file = false }: Request,
): Promise<void> {
  const { scope } = operation;
  if (caller.superuser) return;
  requireNoneOfSuperusers((has_file && operation.multipart) || operation.body, {
    ...((typeof body === 'object' && body) || {}),
    ...(has_file && { import_file: true }),
  });
  // A simulation only supposes other values.
  if (scope?.endsWith(':read') || (!scope && !caller.teams)) return;
  const schema = operation.body ?? operation.multipart;
  const marked = schema ? listProtectedFields(schema, body) : [];
  // Without a scope, the permissions of lead tokens decide about their fields, for their offer
  // alone.
  const checkedFields = scope ? marked : marked.filter(({ is_power }) => !is_power);
  if (checkedFields.length === 0) return;
  const [record] = recordsInPath(operation.path, params);
  const lacked = new Map<string, boolean>();
  const faults: Record<string, FieldFault[]> = Object.create(null);
  const mayReport =
    record !== undefined && checkedFields.some(({ is_report }) => is_report)
      ? await mayReportOn(db, record)
      : false;
  for (const { field, permission, is_report } of checkedFields) {
    if (is_report && mayReport) continue;
    // Only limited callers need a permission for data of the whole company.
    if (permission === 'company' && !caller.teams) continue;
    const needed = permissionFor(scope, permission);
    if (!lacked.has(needed)) lacked.set(needed, !(await mayUse(db, caller, needed, record)));
    if (lacked.get(needed))
      (faults[field] ??= []).push(
        fault('beyond_your_rights', `needs the permission ${needed}, which these credentials lack`),
      );
  }
  const problem = HttpProblem.fields(faults);
  if (problem) throw problem;
}

/** Throws 422 with every field that only superusers may send. */
function requireNoneOfSuperusers(schema: Schema | undefined, fields: object): void {
  if (!schema) return;
  const { properties } = facets(schema);
  const faults: Record<string, FieldFault[]> = Object.create(null);
  for (const name of Object.keys(fields))
    if (properties[name]?.['x-superuser'])
      faults[name] = [
        fault('beyond_your_rights', "can only be given by a superuser's credentials; leave it out"),
      ];
  const problem = HttpProblem.fields(faults);
  if (problem) throw problem;
}

export const permissionFor = (scope: string | undefined, permission: FieldPermission): string =>
  permission === 'company' ? COMPANY_WIDE : `${scope?.split(':')[0]}:${permission}`;

/** The caller has the permission on the record, or on any record where there is none yet. */
export async function mayUse(
  db: Db,
  caller: Caller,
  permission: string,
  record?: { table: Table; references: readonly Reference[]; key?: string },
): Promise<boolean> {
  if (caller.superuser) return true;
  if (!caller.permissions.has(permission)) return false;
  if (!caller.teams || !record) return true;
  const scoped = withContext(db, { accessScope: buildAccessScope(caller, permission) });
  const { table, references, key } = record;
  return (await findHidden(scoped, table, references, key)).length === 0;
}

interface ProtectedField {
  field: string;
  permission: FieldPermission;
  /** A permission of lead tokens opens it too. */
  is_power: boolean;
  /** So does the buyer that it is about. */
  is_report: boolean;
}

/** A false flag in a text field requests nothing. */
const isFlagNotSet = ({ 'x-accepts': accepts = [] }: Schema, value: unknown): boolean =>
  accepts.includes('boolean') && /^(|0|false|no|off)$/i.test(String(value ?? '').trim());

/** The fields with x-field-permission that a body has, also where they are blank. */
const listProtectedFields = (schema: Schema, body: unknown): ProtectedField[] =>
  readBodyFields(schema, body, ({ field, property, value }) => {
    if (isFlagNotSet(property, value)) return [];
    const {
      'x-field-permission': permission,
      'x-lowerable': lowerable,
      'x-lead-token-permission': power,
    } = contract.resolve(property);
    // The handler checks how far a value may be lowered.
    if (!permission || lowerable) return undefined;
    const flags = { is_power: power !== undefined, is_report: isReport({ property, value }) };
    return [permission].flat().map((item) => ({ field, permission: item, ...flags }));
  });
