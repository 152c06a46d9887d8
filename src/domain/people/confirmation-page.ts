import type { RequestHandler } from 'express';
import { BASE_PATH } from '../../platform/contract/contract';

/**
 * The page that the link of a confirmation opens. It asks for a click, because mail scanners open
 * links too, and a scanner must not agree for a person.
 */
export const confirmationPage: RequestHandler = (req, res) => {
  const { confirmation_token: rawToken } = req.query;
  const token =
    typeof rawToken === 'string' && /^conf-[0-9a-f-]{1,120}$/.test(rawToken) ? rawToken : '';
  const action = `${BASE_PATH}/email_addresses/confirm?confirmation_token=${token}`;
  res.set('Cache-Control', 'no-store').type('html').send(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Confirmation</title>
<h1>Do you want these alerts?</h1>
<form method="post" action="${action}">
<p>Your address was named for alerts. It gets them once you confirm it.</p>
<p><button>Confirm my address</button></p>
</form>
</html>
`);
};
