import type { World } from './world';

/** Makes an address one that has confirmed that it wants the mails of the company. */
export const confirmAddress = async ({ sql, company }: World, email: string): Promise<void> => {
  await sql(
    `INSERT INTO mail_addresses (company_id, email, confirmed_at) VALUES ($1, $2, now())
      ON CONFLICT (company_id, email) DO UPDATE SET confirmed_at = now()`,
    [company.id, email],
  );
};
