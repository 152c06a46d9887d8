import {
  NOT_FOUND,
  refusal,
  buildSid,
  type TwilioRequest,
  type Reply,
  type Resource,
  type State,
} from './twilio-state';

/**
 * How requests end by the last four digits of their recipient, with Twilio's codes:
 * https://www.twilio.com/docs/api/errors
 */
const REFUSED: Record<string, { of: string[]; status: number; code: number; message: string }> = {
  '0101': {
    of: ['Messages', 'Calls'],
    status: 400,
    code: 21211,
    message: "Invalid 'To' Phone Number",
  },
  '0102': {
    of: ['Messages'],
    status: 400,
    code: 21614,
    message: "'To' number is not a valid mobile number",
  },
  '0103': {
    of: ['Messages'],
    status: 400,
    code: 21610,
    message: 'Attempt to send to unsubscribed recipient',
  },
  '0104': { of: ['Messages', 'Calls'], status: 429, code: 20429, message: 'Too many requests' },
};
const MESSAGE_ENDS: Record<string, { status: string; error_code?: number }> = {
  '0107': { status: 'undelivered', error_code: 30003 },
  '0108': { status: 'undelivered', error_code: 30007 },
};
const CALL_ENDS: Record<string, string> = { '0105': 'busy', '0106': 'no-answer', '0107': 'failed' };

const ending = (number: string): string => number.slice(-4);

/** Carries out a request and returns the reply to it. */
export function answer(state: State, { method, path, query, form }: TwilioRequest): Reply {
  const [collection, country, kind] = path.split('/') as [string, string?, string?];
  if (method === 'GET' && collection === 'AvailablePhoneNumbers')
    return available(state, country!, kind!, query);
  if (method === 'GET' && !country) return list(state, collection, query);
  if (method === 'GET' && collection === 'Calls') return showCall(state, country!);
  if (method === 'DELETE' && collection === 'IncomingPhoneNumbers')
    return deleteNumber(state, country!);
  if (method === 'POST' && collection === 'Calls' && kind === 'Recordings')
    return recordCall(state, country!, form);
  if (method === 'POST' && collection === 'Calls' && country)
    return changeCall(state, country, form);
  if (method !== 'POST' || country) return refusal(NOT_FOUND);
  const refused = REFUSED[ending(form.get('To') ?? '')];
  if (refused?.of.includes(collection)) return refusal(refused);
  if (collection === 'Messages') return createMessage(state, form);
  if (collection === 'Calls') return createCall(state, form);
  return collection === 'IncomingPhoneNumbers' ? createNumber(state, form) : refusal(NOT_FOUND);
}

const common = (state: State, prefix: string) => {
  const now = new Date().toUTCString().replace('GMT', '+0000');
  return {
    sid: buildSid(prefix),
    account_sid: state.account_sid,
    date_created: now,
    date_updated: now,
  };
};

/** Twilio responds before it knows how a message ends; the stored resource has the end already. */
function createMessage(state: State, form: URLSearchParams): Reply {
  const [to, from, body] = ['To', 'From', 'Body'].map((name) => form.get(name)) as [
    string,
    string,
    string,
  ];
  const message = {
    ...common(state, 'SM'),
    to,
    from,
    body,
    status: 'queued',
    direction: 'outbound-api',
    date_sent: null,
    error_code: null,
  };
  const end = MESSAGE_ENDS[ending(to)] ?? { status: 'delivered' };
  state.messages.unshift({
    ...message,
    status: end.status,
    error_code: end.error_code ?? null,
  } as Resource);
  const params = {
    MessageSid: message.sid,
    MessageStatus: end.status,
    To: to,
    From: from,
    ...(end.error_code && { ErrorCode: String(end.error_code) }),
  };
  if (form.has('StatusCallback')) state.pending.push({ url: form.get('StatusCallback')!, params });
  return { status: 201, body: message };
}

function createCall(state: State, form: URLSearchParams): Reply {
  const [to, from] = ['To', 'From'].map((name) => form.get(name)) as [string, string];
  const call = {
    ...common(state, 'CA'),
    to,
    from,
    status: 'queued',
    direction: 'outbound-api',
    start_time: null,
    end_time: null,
  };
  const status = CALL_ENDS[ending(to)] ?? 'completed';
  state.calls.unshift({ ...call, status } as Resource);
  if (form.has('StatusCallback'))
    state.pending.push({
      url: form.get('StatusCallback')!,
      params: { CallSid: call.sid, CallStatus: status, To: to, From: from, CallDuration: '0' },
    });
  return { status: 201, body: call };
}

const showCall = (state: State, sid: string): Reply => {
  const call = state.calls.find((candidate) => candidate.sid === sid);
  return call ? { status: 200, body: call } : refusal(NOT_FOUND);
};

/** Ends or redirects a call in progress; calls that are over cannot be changed. */
function changeCall(state: State, sid: string, form: URLSearchParams): Reply {
  const call = state.calls.find((candidate) => candidate.sid === sid);
  if (!call) return refusal(NOT_FOUND);
  if (!['queued', 'ringing', 'in-progress'].includes(String(call.status)))
    return refusal({
      status: 400,
      code: 21220,
      message: 'Call is not in-progress. Cannot redirect.',
    });
  // Canceling changes nothing about a call that was answered.
  const isLate = form.get('Status') === 'canceled' && call.status === 'in-progress';
  if (form.has('Status') && !isLate) call.status = form.get('Status');
  if (form.has('Twiml')) call.twiml = form.get('Twiml');
  return { status: 200, body: call };
}

/** A recording is reported when the call is over. */
function recordCall(state: State, sid: string, form: URLSearchParams): Reply {
  const call = state.calls.find((candidate) => candidate.sid === sid);
  if (!call) return refusal(NOT_FOUND);
  if (call.status !== 'in-progress')
    return refusal({ status: 400, code: 21220, message: 'Call is not in-progress.' });
  const recording = { ...common(state, 'RE'), call_sid: sid };
  state.pending.push({
    url: form.get('RecordingStatusCallback')!,
    params: {
      RecordingSid: recording.sid,
      RecordingUrl: `https://api.twilio.com/recordings/${recording.sid}`,
      RecordingStatus: 'completed',
      RecordingDuration: '12',
      CallSid: sid,
    },
  });
  return { status: 201, body: recording };
}

function createNumber(state: State, form: URLSearchParams): Reply {
  const phoneNumber = form.get('PhoneNumber')!;
  if (!forSale(state).includes(phoneNumber))
    return refusal({ status: 400, code: 21422, message: `${phoneNumber} is not available.` });
  const number = {
    ...common(state, 'PN'),
    phone_number: phoneNumber,
    friendly_name: phoneNumber,
    sms_url: form.get('SmsUrl'),
    voice_url: form.get('VoiceUrl'),
    status_callback: form.get('StatusCallback'),
  };
  state.numbers.unshift(number as Resource);
  return { status: 201, body: number };
}

function deleteNumber(state: State, sid: string): Reply {
  const index = state.numbers.findIndex((number) => number.sid === sid);
  if (index < 0) return refusal(NOT_FOUND);
  state.numbers.splice(index, 1);
  return { status: 204, body: {} };
}

const forSale = (state: State): string[] =>
  state.stock.filter(
    (number) => !state.numbers.some(({ phone_number }) => phone_number === number),
  );

/** Newest first, as Twilio lists. */
function list(state: State, collection: string, query: URLSearchParams): Reply {
  const [name, records] = {
    Messages: ['messages', state.messages] as const,
    Calls: ['calls', state.calls] as const,
    IncomingPhoneNumbers: ['incoming_phone_numbers', state.numbers] as const,
  }[collection] ?? [undefined, []];
  if (!name) return refusal(NOT_FOUND);
  const is = (record: Resource, field: string, filter: string) =>
    !query.has(filter) || record[field] === query.get(filter);
  const matches = records.filter(
    (record) =>
      state.ignores_filters ||
      (is(record, 'to', 'To') &&
        is(record, 'from', 'From') &&
        is(record, 'parent_call_sid', 'ParentCallSid') &&
        String(record.phone_number ?? '').includes(query.get('PhoneNumber') ?? '')),
  );
  const page = Number(query.get('Page') ?? 0);
  const size = Math.min(Number(query.get('PageSize') ?? 50), state.max_page_size);
  const next = new URLSearchParams({ ...Object.fromEntries(query), Page: String(page + 1) });
  return {
    status: 200,
    body: {
      [name]: matches.slice(page * size, (page + 1) * size),
      page,
      page_size: size,
      next_page_uri:
        matches.length > (page + 1) * size
          ? `/2010-04-01/Accounts/${state.account_sid}/${collection}.json?${next.toString()}`
          : null,
    },
  };
}

const COUNTRY_CODES: Record<string, string> = { US: '+1', CA: '+1', GB: '+44', AU: '+61' };
const CANADIAN = /^\+1(204|306|403|416|418|506|514|604|613|780|902|855|888)/;
const TOLL_FREE = /^\+(1(800|844|855|866|877|888)|44808|611800)/;

function available(state: State, country: string, kind: string, query: URLSearchParams): Reply {
  const code = COUNTRY_CODES[country];
  if (!code || !['Local', 'TollFree'].includes(kind)) return refusal(NOT_FOUND);
  const contains = new RegExp((query.get('Contains') ?? '').replaceAll('*', '\\d'));
  const matches = forSale(state)
    .filter(
      (number) =>
        number.startsWith(code) && (code !== '+1' || CANADIAN.test(number) === (country === 'CA')),
    )
    .filter((number) => TOLL_FREE.test(number) === (kind === 'TollFree'))
    .filter(
      (number) =>
        (!query.has('AreaCode') || number.startsWith(`${code}${query.get('AreaCode')}`)) &&
        contains.test(number),
    )
    .slice(0, Number(query.get('PageSize') ?? 50))
    .map((phoneNumber) => ({
      phone_number: phoneNumber,
      friendly_name: phoneNumber,
      iso_country: country,
      capabilities: { voice: true, SMS: true, MMS: false },
    }));
  return {
    status: 200,
    body: {
      available_phone_numbers: matches,
      uri:
        `/2010-04-01/Accounts/${state.account_sid}/AvailablePhoneNumbers/` +
        `${country}/${kind}.json`,
    },
  };
}
