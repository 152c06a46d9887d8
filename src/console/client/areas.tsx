import { maySetUp } from './first-day';
import { lazy } from './lazy';
import { mayTestCalls } from './noun/access';
import { NOUN_PAGES } from './nouns/pages';
import type { Session } from './session';
import type { View } from './view';

interface Area {
  title: string;
  views: readonly View[];
}

const Now = lazy(async () => (await import('./views/now')).NowView);
const Calls = lazy(async () => (await import('./views/calls')).CallsView);
const Call = lazy(async () => (await import('./views/call')).CallView);
const TestCall = lazy(async () => (await import('./views/test-call')).TestCallView);
const TestLead = lazy(async () => (await import('./views/test-lead')).TestLeadView);
const Leads = lazy(async () => (await import('./views/leads')).LeadsView);
const Lead = lazy(async () => (await import('./views/lead')).LeadView);
const BoardLink = lazy(async () => (await import('./views/board/board-link')).BoardLinkView);
const Reports = lazy(async () => (await import('./views/reports/reports')).ReportsView);

/** The menu, from top to bottom. */
export const AREAS: readonly Area[] = [
  {
    title: 'Today',
    views: [
      {
        name: 'now',
        title: 'Now',
        may: ({ may }) => may('calls:read') || may('buyers:read'),
        list: () => <Now />,
      },
      // The shell shows it, which knows the steps; it leaves the menu when all are done.
      { name: 'start', title: 'First steps', may: maySetUp, list: () => null },
      {
        name: 'calls',
        title: 'Calls',
        may: ({ may }) => may('calls:read'),
        list: () => <Calls />,
        detail: (id) => <Call id={id} />,
      },
      {
        name: 'test-call',
        title: 'Test call',
        may: mayTestCalls,
        list: () => <TestCall />,
        is_hidden: true,
      },
      {
        name: 'leads',
        title: 'Leads',
        may: ({ may }) => may('leads:read'),
        list: () => <Leads />,
        detail: (id) => <Lead id={id} />,
      },
      {
        name: 'test-lead',
        title: 'Test lead',
        may: ({ may }) => may('leads:create', 'leads:read'),
        list: () => <TestLead />,
        is_hidden: true,
      },
      {
        name: 'reports',
        title: 'Reports',
        may: ({ may }) => may('calls:read'),
        list: () => <Reports />,
      },
      {
        name: 'board',
        title: 'Wallboard',
        may: ({ may }) => may('access_tokens:create', 'calls:read', 'buyers:read'),
        list: () => <BoardLink />,
      },
    ],
  },
  ...NOUN_PAGES,
];

export const listViews = (session: Session): View[] =>
  AREAS.flatMap(({ views }) => views).filter(({ may }) => may(session));
