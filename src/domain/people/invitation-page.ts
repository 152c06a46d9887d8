import type { RequestHandler } from 'express';

/** Links of invitations that were mailed before the console had a page for them. */
export const invitationPage: RequestHandler = (req, res) => {
  const { invitation_token: rawToken } = req.query;
  const token =
    typeof rawToken === 'string' && /^inv-[0-9a-f-]{1,120}$/.test(rawToken) ? rawToken : '';
  res
    .set({ 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' })
    .redirect(303, `/console/#/invitation?token=${token}`);
};
