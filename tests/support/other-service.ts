import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

// Another service that speaks the API of the reference: its envelope, common columns and lists,
// without what the reference does not have, and with the habits of a service that is rented: it is
// busy, it cuts connections, it has columns of its own, and it pages by numbers.

type Resources = Record<string, Record<string, unknown>[]>;

const common = (id: number, name: string | null) => ({
  id,
  legacy_id: id,
  type: 'Record',
  uuid: `018f3a00-0000-7000-8000-${String(id).padStart(12, '0')}`,
  created_at: '2021-03-04 05:06:07 -0800',
  updated_at: '2022-03-04 05:06:07 -0800',
  deleted_at: null,
  user_updated_at: null,
  routes_show_path: `/old/${id}`,
  routes_edit_path: `/old/${id}/edit`,
  external_record_id: null,
  name,
});

const RESOURCES: Resources = {
  buyer_fleets: [{ ...common(10, 'Solar'), user_fleet_id: 'solar' }],
  buyers: Array.from({ length: 60 }, (_, n) => ({
    ...common(1_000 + n, `Buyer ${n}`),
    user_buyer_id: `b${n}`,
    number: n === 0 ? 'sip:sales@example.com' : `+1310555${String(1000 + n)}`,
    // Less than is allowed here.
    timeout_seconds: n === 1 ? 5 : 30,
    paused: n === 2,
    tier: 1,
    weight: 10,
    attempt_daily_limit: 5,
    // A column of that service alone.
    shadow_score: n === 3 ? 0.5 : null,
  })),
  buyer_groups: [{ ...common(20, 'West'), buyer_ids: [1_000, 1_001] }],
  buyer_suppressions: [{ ...common(30, 'No calls'), buyer_ids: [1_000] }],
  offers: [{ ...common(40, 'Auto'), lead_token: 'old-lead-token-of-auto', buyer_ids: [1_000] }],
  schedules: [{ ...common(50, 'Spring'), offer_id: 40, lead_token: 'old-lead-token-of-spring' }],
  access_control_lists: [{ ...common(60, 'Partners'), permissions: ['buyers:read'] }],
  users: [
    { ...common(70, 'Ann'), email: 'ann@example.com', team_ids: [60] },
    { ...common(71, 'Nobody'), email: 'no address' },
  ],
  leads: [
    {
      ...common(80, 'Eve'),
      caller_id: '+13105550201',
      offer_id: 40,
      schedule_id: 50,
      status: 'scheduled',
      data: { first_name: 'Eve' },
    },
    { ...common(81, 'Ed'), caller_id: '+13105550202', offer_id: 40, status: 'opt_out' },
    { ...common(82, 'Al'), caller_id: '(310) 555-0203', offer_id: 40, status: 'archived' },
    { ...common(83, 'No'), caller_id: 'anonymous', offer_id: 40, status: 'completed' },
    { ...common(84, 'Lost'), caller_id: '+13105550204', offer_id: 41, status: 'completed' },
    {
      ...common(85, 'Odd'),
      caller_id: '+13105550205',
      offer_id: 40,
      status: 'completed',
      sub_id: 'odd\u0000',
    },
  ],
};

interface OtherService {
  server: Server;
  url: string;
  /** True while it is busy now and then, and cuts connections. */
  disturbed: boolean;
}

export async function otherService(): Promise<OtherService> {
  let requests = 0;
  const server = createServer((req, res) => {
    const { pathname, searchParams } = new URL(req.url!, 'http://other');
    const json = (status: number, body: object, headers: Record<string, string> = {}) =>
      res
        .writeHead(status, { 'Content-Type': 'application/json', ...headers })
        .end(JSON.stringify(body));
    requests++;
    if (req.headers.authorization !== `Basic ${Buffer.from('pub:priv').toString('base64')}`)
      return json(401, { status: 401, success: false });
    if (service.disturbed) {
      if (requests % 7 === 0) return json(429, { status: 429 }, { 'Retry-After': '0' });
      if (requests % 11 === 0) return req.socket.destroy();
      if (requests % 13 === 0) return json(502, { status: 502 });
    }
    const resource = /^\/api\/v1\/(\w+)$/.exec(pathname)?.[1] ?? '';
    const records = RESOURCES[resource];
    if (!records) return json(404, { status: 404, success: false });
    if (searchParams.has('serializer')) return json(422, { status: 422, success: false });
    const [page, perPage] = [Number(searchParams.get('page') ?? 1), 25];
    return json(200, {
      status: 200,
      success: true,
      [resource]: records.slice((page - 1) * perPage, page * perPage),
      metadata: {
        root: resource,
        page,
        per_page: perPage,
        total_pages: Math.ceil(records.length / perPage),
        total_count: records.length,
        next_cursor: null,
      },
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const service = { server, url: `http://127.0.0.1:${port}/api/v1`, disturbed: true };
  return service;
}
