import type { Maker } from '../../data/access/makers';
import type { Db } from '../../data/db';
import { PRE_DIAL_WEBHOOKS } from './queries/pre-dial-webhooks';

export interface PreDialWebhook extends Maker {
  id: number;
  uuid: string;
  owner_type: string;
  owner_id: number | null;
  url: string;
  method: string;
  headers: Record<string, string>;
  body: string | null;
  token_filters: string[];
  timeout_seconds: number;
  secret_version: number;
  secret_rotated_at: string | null;
}

/** The webhooks of a company that are asked before a buyer is dialed, by id. */
export const loadPreDialWebhooks = (db: Pick<Db, 'sql'>): Promise<PreDialWebhook[]> =>
  db.sql(PRE_DIAL_WEBHOOKS, {});
