import type { RequestHandler } from 'express';
import { BASE_PATH } from '../../platform/contract/contract';

/**
 * The page that the link of an invitation opens. It asks for a click, because mail scanners open
 * links too and an invitation can be accepted only once.
 */
export const invitationPage: RequestHandler = (req, res) => {
  const { invitation_token: rawToken } = req.query;
  const token =
    typeof rawToken === 'string' && /^inv-[0-9a-f-]{1,120}$/.test(rawToken) ? rawToken : '';
  res.set('Cache-Control', 'no-store').type('html').send(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Invitation</title>
<h1>You are invited</h1>
<form method="post" action="${BASE_PATH}/invitations/accept">
<input type="hidden" name="invitation_token" value="${token}">
<p>Your access token is created now and shown once. Keep it where you keep passwords.</p>
<p><label>What is it for?
<input name="name" value="Invitation" maxlength="255" required></label></p>
<p><button>Create my token</button></p>
</form>
</html>
`);
};
