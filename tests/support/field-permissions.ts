import {
  contract,
  facets,
  type Operation,
  type Schema,
} from '../../src/platform/contract/contract';
import { permissionFor } from '../../src/api/access/field-permissions';

/** A field that needs a permission of its own. */
export interface MarkedField {
  /** Names from the body down; an entry of a list is `0`. */
  path: string[];
  permission: string;
  lowerable: boolean;
}

/** The fields of an operation's body that need a permission of their own, at any depth. */
export function markedFields({ scope, body, multipart }: Operation): MarkedField[] {
  const schema = body ?? multipart;
  return schema && !scope?.endsWith(':read') ? listMarked(schema, scope, []) : [];
}

function listMarked(schema: Schema, scope: string | undefined, above: string[]): MarkedField[] {
  if (above.length > 6) return [];
  const { properties, items } = facets(schema);
  const inner = items ? listMarked(items, scope, [...above, '0']) : [];
  return Object.entries(properties)
    .flatMap(([name, property]) => {
      const path = [...above, name];
      const {
        'x-field-permission': permission,
        'x-lowerable': lowerable = false,
        'x-lead-token-permission': power,
      } = contract.resolve(property);
      // Without a scope, a power of the lead token opens the field, for its offer alone.
      const needed = !scope && power ? [] : [permission ?? []].flat();
      const ownFields = needed.map((fieldPermission) => ({
        path,
        permission: permissionFor(scope, fieldPermission),
        lowerable,
      }));
      return [...ownFields, ...listMarked(property, scope, path)];
    })
    .concat(inner);
}
