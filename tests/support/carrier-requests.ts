import { NOON, openShop, wait, type Shop } from './leads';
import { nextNumber } from './records';
import { signForm } from './twiml-caller';
import { useWorld } from './use-world';
import type { World } from './world';

export const PUBLIC_URL = 'https://calls.example.com';
/** The number of the company. */
export const US = '+12125550100';

type Params = Record<string, string>;

export interface Signed {
  token?: string;
  /** The URL that was signed, if another is sent. */
  url?: string;
  params?: Params;
  headers?: Params;
  to?: World;
}
export interface Row {
  id: string;
  uuid: string;
}
/** A company at a carrier with a schedule of leads: registers the hooks of a test file. */
export function carrierRequests() {
  // Each rejected signature counts against the address it came from.
  const world = useWorld({ clock: NOON, environment: { PUBLIC_URL, TRUST_PROXY: '1' } });
  const shop = {} as Shop;
  beforeAll(async () => Object.assign(shop, await openShop(world, [wait(1, 'days')])));

  let sequence = 0;
  const sid = (kind = 'SM') => `${kind}${String(++sequence).padStart(32, '0')}`;
  const newNumber = () => nextNumber('+1310777');

  /** Sends a request as the carrier does, with its signature. */
  function hook(
    at: string,
    params: Params,
    { token, url = at, params: signed = params, headers, to = world }: Signed = {},
  ) {
    const fullUrl = url.startsWith('http') ? url : `${PUBLIC_URL}/api/v1/${url}`;
    const address = { 'X-Forwarded-For': `10.1.${++sequence % 250}.1` };
    const signature = { token, signed, headers: { ...address, ...headers } };
    return to.company.api('post', at, signForm(fullUrl, params, signature));
  }
  const text = (Body: string, more: Params = {}): Params => ({
    MessageSid: sid(),
    From: newNumber(),
    To: US,
    Body,
    ...more,
  });
  const listMessages = (number: string) =>
    world.sql('SELECT * FROM text_messages WHERE from_number = $1 OR to_number = $1 ORDER BY id', [
      number.slice(1),
    ]);
  const optedOut = async (number: string) =>
    (await world.sql('SELECT opt_out FROM contacts WHERE caller_number = $1', [number.slice(1)]))[0]
      ?.opt_out;
  const loadLogs = async (leadId: number, event: string) => {
    const text = 'SELECT message FROM lead_logs WHERE lead_id = $1 AND event = $2 ORDER BY id';
    const logs = await world.sql<{ message: string }>(text, [leadId, event]);
    return logs.map(({ message }) => message);
  };

  async function newLead(): Promise<{ id: number; number: string }> {
    const number = newNumber();
    const res = await world.api('post', 'leads', {
      auth: null,
      query: { lead_token: shop.schedule.lead_token, caller_id: number },
    });
    return { id: res.body.id, number };
  }

  const insert = async (table: string, columns: string, values: string, params: unknown[]) => {
    const text = `INSERT INTO ${table} (company_id, uuid, status, lead_id, ${columns}, carrier)
      VALUES ($1, gen_random_uuid(), $2, $3, ${values}, 'twilio')
      RETURNING id, uuid`;
    return (await world.sql<Row>(text, [world.company.id, ...params]))[0]!;
  };
  const sentMessage = (
    status: string,
    leadId: number | null = null,
    direction = 'outbound',
  ): Promise<Row> => {
    const values = `$4, 12125550100, 13105550123, 'x'`;
    const columns = 'direction, from_number, to_number, body';
    return insert('text_messages', columns, values, [status, leadId, direction]);
  };
  const placedCall = (status: string, leadId: number | null = null): Promise<Row> => {
    const values = `'outbound', 12125550100, 13105550123, '+1'`;
    const columns = 'direction, from_number, to_number, connect_to';
    return insert('calls', columns, values, [status, leadId]);
  };
  const messageStatus = ({ uuid }: { uuid: string }, MessageStatus: string, more: Params = {}) =>
    hook(`telephony/message_status?key=${uuid}`, {
      MessageSid: `SM-${uuid}`,
      MessageStatus,
      From: US,
      ...more,
    });
  const callStatus = ({ uuid }: { uuid: string }, CallStatus: string, more: Params = {}) =>
    hook(`telephony/call_status?key=${uuid}`, {
      CallSid: `CA-${uuid}`,
      CallStatus,
      From: US,
      ...more,
    });
  const loadRow = async (table: string, { id }: { id: string }) =>
    (await world.sql(`SELECT * FROM ${table} WHERE id = $1`, [id]))[0]!;

  return {
    world,
    shop,
    time: world.clock,
    hook,
    text,
    listMessages,
    optedOut,
    loadLogs,
    newLead,
    sentMessage,
    placedCall,
    messageStatus,
    callStatus,
    loadRow,
    /** A sender address of its own for each request. */
    newAddress: () => `10.2.${++sequence % 250}.1`,
  };
}
