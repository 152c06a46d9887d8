import { useEffect, useState } from 'preact/hooks';
import { ok } from './api';
import { titleOf } from './form/references';
import { count } from './format';
import { useLive } from './loading';
import { useRoute, type linkTo } from './route';
import type { Session } from './session';

/** A step of the first day; `state` says what there is, and is absent while it is to be done. */
export interface FirstStep {
  title: string;
  about: string;
  state: string | undefined;
  button: { title: string; link: Parameters<typeof linkTo> };
}

export interface FirstDay {
  steps: readonly FirstStep[];
  has_calls: boolean;
  is_done: boolean;
}

/** The oldest calls of a company say whether it had its first ones. */
const FIRST_CALLS = 200;
const FEW = 100;

/** Only for those who may do all of the steps. */
export const maySetUp = ({ me, may }: Session): boolean =>
  me.team_ids === null &&
  may('calls:read', 'calls:create', 'phone_numbers:read', 'phone_numbers:create') &&
  may('buyers:read', 'buyers:create', 'offers:read', 'offers:create');

/** Kept once all are done, so that nothing is asked again in this browser. */
const storageKey = ({ me }: Session): string => `trunkline.set-up.${me.company.id}`;
const SET_UP: FirstDay = { steps: [], has_calls: true, is_done: true };

/** The steps, checked with each page and after calls until all are done; undefined at first. */
export function useFirstDay(session: Session): FirstDay | undefined {
  const { view, id } = useRoute();
  const isSettled = !maySetUp(session) || localStorage.getItem(storageKey(session)) !== null;
  const [day, setDay] = useState<FirstDay | undefined>(isSettled ? SET_UP : undefined);
  const isNeeded = day?.is_done !== true || (view === 'start' && day.steps.length === 0);
  const check = () => {
    if (!isNeeded || !maySetUp(session)) return;
    checkFirstDay(session).then(
      (checked) => {
        if (checked.is_done) localStorage.setItem(storageKey(session), 'done');
        setDay(checked);
      },
      // The pages are of use without it.
      () => setDay((before) => before ?? SET_UP),
    );
  };
  useEffect(check, [view, id]);
  useLive(({ kind }) => kind === 'call', check);
  return day;
}

async function loadRecords({ api, may }: Session) {
  const list = { per_page: FEW };
  const [{ numbers }, { switches }, { buyers }, { offers }, { calls }] = await Promise.all([
    ok(
      api.GET('/phone_numbers', {
        params: { query: { ...list, columns: ['id', 'phone_number', 'offer_id', 'buyer_id'] } },
      }),
    ),
    may('switches:read')
      ? ok(api.GET('/switches', { params: { query: { per_page: 1 } } }))
      : { switches: [] },
    ok(api.GET('/buyers', { params: { query: { ...list, columns: ['id', 'name'] } } })),
    ok(
      api.GET('/offers', {
        params: { query: { ...list, columns: ['id', 'name', 'buyer_ids', 'buyer_group_ids'] } },
      }),
    ),
    ok(
      api.GET('/calls', {
        params: {
          query: { per_page: FIRST_CALLS, order: 'id', order_dir: 'asc', columns: CALL_COLUMNS },
        },
      }),
    ),
  ]);
  return { numbers, switches, buyers, offers, calls };
}

const CALL_COLUMNS = ['id', 'sandbox', 'caller_number'];

async function checkFirstDay(session: Session): Promise<FirstDay> {
  const records = await loadRecords(session);
  const { calls } = records;
  const steps = [...buildSetUpSteps(records), ...buildCallSteps(records)];
  return {
    steps,
    has_calls: calls.length > 0,
    is_done: steps.every(({ state }) => state !== undefined),
  };
}

type Records = Awaited<ReturnType<typeof loadRecords>>;

const isReal = ({ sandbox }: Records['calls'][number]): boolean => sandbox !== true;
const hasBuyers = ({ buyer_ids: ids, buyer_group_ids: groups }: Records['offers'][number]) =>
  (ids ?? []).length + (groups ?? []).length > 0;

function buildSetUpSteps({ numbers, switches, buyers, offers, calls }: Records): FirstStep[] {
  const [number] = numbers;
  const [line] = switches;
  const [buyer] = buyers;
  const offer = offers.find(hasBuyers);
  const isConnected = calls.some(isReal) ? 'Calls come in already.' : undefined;
  return [
    {
      title: 'Connect a number or a switch',
      about: 'Callers ring a number of yours; or your own switch asks where to send a call.',
      state:
        (number && `Number ${String(number.phone_number)}.`) ??
        (line && `Switch ${titleOf(line)}.`) ??
        isConnected,
      button: { title: 'Get a number', link: ['phone_numbers', 'new'] },
    },
    {
      title: 'Add a buyer',
      about: 'It takes calls at its telephone number, and pays for them.',
      state:
        buyer && `${titleOf(buyer)}${buyers.length > 1 ? `, and ${buyers.length - 1} more` : ''}.`,
      button: { title: 'Add a buyer', link: ['buyers', 'new'] },
    },
    {
      title: 'Make an offer with that buyer',
      about: 'It takes the calls of your numbers, and gives them to its buyers.',
      state: offer && `${titleOf(offer)}.`,
      button:
        offers[0] && !offer
          ? { title: `Give ${titleOf(offers[0])} a buyer`, link: ['offers', offers[0].id] }
          : {
              title: 'Make an offer',
              link: ['offers', 'new', { buyer_ids: buyer?.id }],
            },
    },
  ];
}

function buildCallSteps({ numbers, offers, calls }: Records): FirstStep[] {
  const offer = offers.find(hasBuyers);
  const real = calls.find(isReal);
  const tests = calls.filter((call) => !isReal(call));
  const unused = numbers.find(({ offer_id, buyer_id }) => !offer_id && !buyer_id);
  return [
    {
      title: 'Make a test call',
      about: 'It shows where a call goes, and what is paid for it. No telephone rings.',
      state:
        (tests[0] && `${count(tests.length)} so far, the first is call ${String(tests[0].id)}.`) ??
        (real && 'Real calls show it.'),
      button: { title: 'Make a test call', link: ['test-call', null, { offer_id: offer?.id }] },
    },
    {
      title: 'Take the first real call',
      about: 'Ring the number, or let your switch report a call. It appears here by itself.',
      state: real && `Call ${String(real.id)}, from ${real.caller_number ?? 'a withheld number'}.`,
      button: unused
        ? {
            title: `Choose where ${String(unused.phone_number)} leads`,
            link: ['phone_numbers', unused.id],
          }
        : { title: 'Watch the calls', link: ['now'] },
    },
  ];
}
