import { Router, type Request, type RequestHandler } from 'express';
import { requireSameOrigin } from '../../../api/auth/same-origin';
import { BODY_TIMEOUTS, bodyTimeout } from '../../../api/request/body-timeout';
import { bodyReader } from '../../../api/request/read-body';
import { HttpProblem } from '../../../platform/errors';
import type { Deps } from '../../deps';
import { changePassword, endOtherSessions, endOwnSession, listOwnSessions } from './account';
import { requireSession, type ConsoleCall, type OwnCall } from './console-call';
import { FIELDS, readFields } from './fields';
import { acceptInvitation, showInvitation, showInvitationLink } from './invitation';
import { openLink, requestLink } from './mailed-links';
import { openIdRoutes } from './openid';
import { acceptOwnerLink, showOwnerLink } from './owner';
import { MAX_PASSWORD } from './passwords';
import {
  chooseCompany,
  readSession,
  signInByPassword,
  signOut,
  type ConsoleReply,
} from './sign-in';
import {
  confirmSecondFactor,
  enterCode,
  proposeSecondFactor,
  removeSecondFactor,
  renewRecoveryCodes,
} from './second-factor';
import { describeState } from './state';

// The console's own requests, outside of the contract: they set the cookie that all its others are
// made with, and are for its page alone.

type Work<Call> = (call: Call, req: Request) => ConsoleReply | Promise<ConsoleReply>;

const MAX_TOKEN = 200;
const MAX_NAME = 255;
const MAX_CODE = 30;

const password = FIELDS.text(MAX_PASSWORD);
const { email, optional, whole } = FIELDS;

/** Routes of signing in, and of the own account. */
export function signInRoutes(deps: Deps): Router {
  const router = Router({ caseSensitive: true });
  const { open, own } = handlersFor(deps);

  router.get(
    '/console/session',
    open(async (call) => ({ status: 200, body: await describeState(call) })),
  );
  router.post(
    '/console/session',
    open((call, { body }) => signInByPassword(call, readFields(body, { email, password }))),
  );
  router.delete('/console/session', open(signOut));
  router.post(
    '/console/session/company',
    open((call, { body }) => chooseCompany(call, readFields(body, { company_id: whole }))),
  );
  addLinkRoutes(router, { open, own });
  router.put(
    '/console/password',
    own((call, { body }) =>
      changePassword(call, readFields(body, { current_password: optional(password), password })),
    ),
  );
  const openId = openIdRoutes(deps);
  router.get('/console/sign-in/oidc', fromOwnPage(deps), openId.begin);
  router.get('/console/sign-in/oidc/callback', openId.end);
  addSecondFactorRoutes(router, { open, own });
  router.get('/console/sessions', own(listOwnSessions));
  router.delete('/console/sessions', own(endOtherSessions));
  router.delete(
    '/console/sessions/:id',
    own((call, { params }) => endOwnSession(call, String(params.id))),
  );
  return router;
}

function addSecondFactorRoutes(router: Router, { open, own }: ReturnType<typeof handlersFor>) {
  const code = FIELDS.text(MAX_CODE);
  router.post(
    '/console/session/code',
    open((call, { body }) => enterCode(call, readFields(body, { code }))),
  );
  router.post(
    '/console/second-factor',
    own((call, { body }) =>
      proposeSecondFactor(call, readFields(body, { password: optional(password) })),
    ),
  );
  router.post(
    '/console/second-factor/confirm',
    own((call, { body }) => confirmSecondFactor(call, readFields(body, { code }))),
  );
  router.post(
    '/console/second-factor/recovery-codes',
    own((call, { body }) => renewRecoveryCodes(call, readFields(body, { code }))),
  );
  router.delete(
    '/console/second-factor',
    own((call, { body }) => removeSecondFactor(call, readFields(body, { code }))),
  );
}

/** Links that let a person in. */
function addLinkRoutes(router: Router, { open, own }: ReturnType<typeof handlersFor>): void {
  const token = FIELDS.text(MAX_TOKEN);
  const name = optional(FIELDS.text(MAX_NAME));
  router.post(
    '/console/invitation/show',
    open((call, { body }) => showInvitation(call, readFields(body, { token }))),
  );
  router.post(
    '/console/invitation',
    open((call, { body }) => acceptInvitation(call, readFields(body, { token, name, password }))),
  );
  router.post(
    '/console/users/:id/invitation_link',
    own((call, { params }) => showInvitationLink(call, String(params.id))),
  );
  router.post(
    '/console/sign-in/link',
    open((call, { body }) => requestLink(call, readFields(body, { email }))),
  );
  router.post(
    '/console/sign-in/link/open',
    open((call, { body }) => openLink(call, readFields(body, { token }))),
  );
  router.post(
    '/console/owner/show',
    open((call, { body }) => showOwnerLink(call, readFields(body, { token }))),
  );
  router.post(
    '/console/owner',
    open((call, { body }) =>
      acceptOwnerLink(call, readFields(body, { token, email, name, password })),
    ),
  );
}

/**
 * Handlers of the page's requests: from the same origin alone, with a small JSON body where they
 * have one. `own` needs a session, and for a change its CSRF token.
 */
function handlersFor(deps: Deps) {
  const readBody = bodyReader(deps.config);
  const limitTimeOfBody = bodyTimeout(BODY_TIMEOUTS);
  const handle =
    (work: Work<ConsoleCall>): RequestHandler =>
    async (req, res) => {
      res.set({
        'Cache-Control': 'no-store',
        'X-Content-Type-Options': 'nosniff',
        'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
      });
      requireSameOrigin(req, deps.config);
      const call = { deps, req, res, now: deps.clock() };
      readSession(call);
      if (hasBody(req)) {
        limitTimeOfBody(req);
        requireJson(req);
        await readBody(req, res, false);
      }
      const { status, body } = await work(call, req);
      res.status(status).json(body);
    };
  return {
    open: handle,
    own: (work: Work<OwnCall>): RequestHandler =>
      handle(async (call, req) => work(await requireSession(call), req)),
  };
}

/** Another page cannot have a person begin to sign in. */
const fromOwnPage =
  ({ config }: Deps): RequestHandler =>
  (req, res, next) => {
    res.set({ 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' });
    requireSameOrigin(req, config);
    next();
  };

/** Requests that read or delete may have none. */
const hasBody = ({ method, headers }: Request): boolean =>
  method === 'POST' || method === 'PUT' || Number(headers['content-length'] ?? 0) > 0;

/** A form of another page cannot send JSON. */
function requireJson(req: Request): void {
  if (req.is('application/json')) return;
  throw new HttpProblem('unsupported_media_type', 'The body must be JSON: application/json.');
}
