import { contract } from '../../src/platform/contract/contract';
import { createRecords } from './records';
import { createMember, type Member } from './teams';
import type { World } from './world';

export const SCOPES = contract.document.components.schemas.Scope!.enum as string[];

/** A user with every permission, in a team that is granted one buyer and one offer. */
export interface Partner {
  partner: Member;
  buyer: number;
  offer: number;
}

export async function createPartner({ company }: World): Promise<Partner> {
  const { Granted, Too } = await createRecords(company.api, {
    buyers: { Granted: { number: '+13105550777', user_buyer_id: 'granted' } },
    offers: { Too: { name: 'Granted too' } },
  });
  const partner = await createMember(company, 'partner@example.com', {
    permissions: SCOPES,
    buyer_ids: [Granted],
    offer_ids: [Too],
  });
  return { partner, buyer: Granted, offer: Too };
}
