import type { Schemas } from '../../api';
import { setQuery, useRoute } from '../../route';
import { fromDayInputs, moveDay } from '../../table/period';
import { currentZone, toDay, useZone } from '../../zone';
import { FIGURES, type FigureName } from './figures';
import { GROUPS, type GroupName } from './groups';

// All of a report is in the query of its location, so that a link to it shows others what one sees.

export type ReportFilters = {
  created_at_from: string;
  created_at_to: string;
  time_zone: string;
  call_category?: Schemas['CallCategory'];
  buyer_id?: string;
  offer_id?: string;
  traffic_source_id?: string;
};

export interface ReportState {
  groups: readonly GroupName[];
  tokenKey: string;
  filters: ReportFilters;
  order: FigureName | undefined;
  direction: 'asc' | 'desc';
  isCompared: boolean;
  figure: FigureName;
  page: number;
}

const RECORD_FILTERS = ['buyer_id', 'offer_id', 'traffic_source_id'] as const;
export type RecordFilter = (typeof RECORD_FILTERS)[number];

const DEFAULT_DAYS = 14;

/** Outgoing calls without an answer would lower the connect rate, so they are apart. */
const DEFAULT_DIRECTION = 'inbound';

export function useReportState() {
  const { query } = useRoute();
  useZone();
  const state = readState(query);
  return {
    state,
    change: (changes: Readonly<Record<string, string | null>>) =>
      setQuery({ page: null, ...changes }),
    turn: (page: number) => setQuery({ page: page === 1 ? null : page }),
  };
}

function readState(query: URLSearchParams): ReportState {
  const figure = (name: string | null) => FIGURES.find((entry) => entry.name === name)?.name;
  const groups = (query.get('group_by') ?? '').split(',').filter((name) => name in GROUPS);
  const order = figure(query.get('order'));
  return {
    groups: groups.length === 0 ? ['day'] : ([...new Set(groups)].slice(0, 3) as GroupName[]),
    tokenKey: query.get('token_key') ?? '',
    filters: readFilters(query),
    order,
    direction: query.get('dir') === 'asc' || (!query.has('dir') && !order) ? 'asc' : 'desc',
    isCompared: query.get('compare') === 'true',
    figure: figure(query.get('figure')) ?? 'revenue',
    page: Math.max(Math.trunc(Number(query.get('page'))) || 1, 1),
  };
}

function readFilters(query: URLSearchParams): ReportFilters {
  const zone = query.get('time_zone') ?? currentZone();
  const today = toDay(new Date(), zone);
  const usual = fromDayInputs(moveDay(today, 1 - DEFAULT_DAYS), today, zone);
  const direction = query.get('call_category') ?? DEFAULT_DIRECTION;
  const records = RECORD_FILTERS.flatMap((name) => {
    const value = query.get(name);
    return value === null ? [] : [[name, value]];
  });
  return {
    created_at_from: query.get('created_at_from') ?? usual.from,
    created_at_to: query.get('created_at_to') ?? usual.to,
    time_zone: zone,
    ...((direction === 'inbound' || direction === 'outbound') && { call_category: direction }),
    ...Object.fromEntries(records),
  };
}

/** The query of a link by which others see the same: also what is set by default. */
export const toLinkQuery = (state: ReportState) => ({
  group_by: state.groups.join(','),
  token_key: state.tokenKey,
  ...state.filters,
  call_category: state.filters.call_category ?? 'all',
  order: state.order,
  dir: state.order && state.direction,
  compare: state.isCompared || null,
  figure: state.figure,
  page: state.page === 1 ? null : state.page,
});

/** As many rows as the API gives at once. */
export const MAX_ROWS = 1_000;

/** The query of the API for a report. */
export const toQuery = ({ groups, tokenKey, filters, order, direction }: ReportState) => ({
  group_by: [...groups],
  ...(groups.includes('token') && { token_key: tokenKey }),
  ...filters,
  ...(order && { order }),
  order_dir: direction,
});
