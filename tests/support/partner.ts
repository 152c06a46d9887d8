import { contract } from '../../src/platform/contract/contract';
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
  const created = await company.api('post', 'buyers', {
    body: { name: 'Granted', number: '+13105550777', user_buyer_id: 'granted' },
  });
  const buyer = created.body.buyer.id as number;
  const offers = await company.api('post', 'offers', { body: { name: 'Granted too' } });
  const offer = offers.body.offer.id as number;
  const partner = await createMember(company, 'partner@example.com', {
    permissions: SCOPES,
    buyer_ids: [buyer],
    offer_ids: [offer],
  });
  return { partner, buyer, offer };
}
