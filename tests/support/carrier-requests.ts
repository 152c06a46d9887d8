import { computeSignature } from '../../src/platform/carriers/signature';
import { standingClock } from './clock';
import { NOON, openShop, type Shop } from './leads';
import { createWorld, TWILIO_TOKEN, type World } from './world';

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
  let world: World;
  let shop: Shop;
  const time = standingClock(NOON);
  beforeAll(async () => {
    // Each rejected signature counts against the address it came from.
    world = await createWorld({ clock: time.read, environment: { PUBLIC_URL, TRUST_PROXY: '1' } });
    shop = await openShop(world, [{ action_type: 'wait', wait_amount: 1, wait_unit: 'days' }]);
  });
  afterAll(() => world.close());
  beforeEach(() => time.set(NOON));

  let sequence = 0;
  const sid = (kind = 'SM') => `${kind}${String(++sequence).padStart(32, '0')}`;
  const newNumber = () => `+1310777${1000 + ++sequence}`;

  /** Sends a request as the carrier does, with its signature. */
  function hook(
    at: string,
    params: Params,
    {
      token = TWILIO_TOKEN,
      url = at,
      params: signed = params,
      headers = {},
      to = world,
    }: Signed = {},
  ) {
    const signature = computeSignature(
      token,
      `${url.startsWith('http') ? '' : `${PUBLIC_URL}/api/v1/`}${url}`,
      signed,
    );
    const ownHeaders = {
      'Content-Type': 'application/x-www-form-urlencoded',
      'X-Twilio-Signature': signature,
      'X-Forwarded-For': `10.1.${++sequence % 250}.1`,
    };
    return to.company.api('post', at, {
      auth: null,
      headers: { ...ownHeaders, ...headers },
      body: new URLSearchParams(params).toString(),
    });
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
  const loadLogs = async (leadId: number, event: string) =>
    (
      await world.sql<{ message: string }>(
        'SELECT message FROM lead_logs WHERE lead_id = $1 AND event = $2 ORDER BY id',
        [leadId, event],
      )
    ).map(({ message }) => message);

  async function newLead(): Promise<{ id: number; number: string }> {
    const number = newNumber();
    const res = await world.company.api('post', 'leads', {
      auth: null,
      query: { lead_token: shop.schedule.lead_token, caller_id: number },
    });
    return { id: res.body.id, number };
  }

  async function sentMessage(
    status: string,
    leadId: number | null = null,
    direction = 'outbound',
  ): Promise<Row> {
    const [row] = await world.sql<Row>(
      `INSERT INTO text_messages (
      company_id, uuid, direction, from_number, to_number, body, status, carrier, lead_id
    )
    VALUES ($1, gen_random_uuid(), $4, 12125550100, 13105550123, 'x', $2, 'twilio', $3)
    RETURNING id, uuid`,
      [world.company.id, status, leadId, direction],
    );
    return row!;
  }
  async function placedCall(status: string, leadId: number | null = null): Promise<Row> {
    const [row] = await world.sql<Row>(
      `INSERT INTO calls (
      company_id, uuid, direction, from_number, to_number, connect_to, status, carrier, lead_id
    )
    VALUES ($1, gen_random_uuid(), 'outbound', 12125550100, 13105550123, '+1', $2, 'twilio', $3)
    RETURNING id, uuid`,
      [world.company.id, status, leadId],
    );
    return row!;
  }
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
    get world() {
      return world;
    },
    get shop() {
      return shop;
    },
    time,
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
