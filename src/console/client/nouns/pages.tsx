import type { ComponentChild } from 'preact';
import type { View } from '../view';
import { lazy } from '../lazy';
import { mayDo } from '../noun/access';
import type { NounLayout } from './layout';

// The pages of nouns: each is its layout, and the script of a layout is loaded with its page.

interface NounPage {
  name: string;
  title: string;
  load: () => Promise<NounLayout>;
}

function toView({ name, title, load }: NounPage): View {
  const Page = lazy<{ id?: string }>(async () => {
    const [layout, { ListPage, NewRecordPage, RecordPage }] = await Promise.all([
      load(),
      import('../noun/pages'),
    ]);
    return function NounPage({ id }: { id?: string }): ComponentChild {
      if (id === undefined) return <ListPage layout={layout} />;
      const Creator = layout.creator ?? NewRecordPage;
      if (id === 'new') return <Creator layout={layout} />;
      return <RecordPage layout={layout} id={id} />;
    };
  });
  return {
    name,
    title,
    may: (session) => {
      const noun = session.contract.nouns[name];
      return noun !== undefined && mayDo(session, noun, 'list');
    },
    list: () => <Page key={name} />,
    detail: (id) => <Page key={name} id={id} />,
  };
}

/** The layouts, by the areas of the menu. */
export const NOUNS: readonly { title: string; pages: readonly NounPage[] }[] = [
  {
    title: 'Routing',
    pages: [
      { name: 'buyers', title: 'Buyers', load: async () => (await import('./buyers')).buyers },
      {
        name: 'buyer_groups',
        title: 'Groups',
        load: async () => (await import('./buyer-groups')).buyerGroups,
      },
      {
        name: 'buyer_fleets',
        title: 'Fleets',
        load: async () => (await import('./buyer-fleets')).buyerFleets,
      },
      { name: 'offers', title: 'Offers', load: async () => (await import('./offers')).offers },
      {
        name: 'traffic_sources',
        title: 'Traffic sources',
        load: async () => (await import('./traffic-sources')).trafficSources,
      },
      {
        name: 'phone_numbers',
        title: 'Numbers',
        load: async () => (await import('./phone-numbers')).phoneNumbers,
      },
    ],
  },
  {
    title: 'Lists',
    pages: [
      {
        name: 'buyer_suppressions',
        title: 'Suppression lists',
        load: async () => (await import('./suppressions')).buyerSuppressions,
      },
      {
        name: 'buyer_suppression_files',
        title: 'Uploads',
        load: async () => (await import('./suppressions')).suppressionFiles,
      },
      {
        name: 'value_lists',
        title: 'Value lists',
        load: async () => (await import('./value-lists')).valueLists,
      },
      {
        name: 'zip_lists',
        title: 'ZIP lists',
        load: async () => (await import('./value-lists')).zipLists,
      },
    ],
  },
  {
    title: 'Follow-up',
    pages: [
      {
        name: 'schedules',
        title: 'Schedules',
        load: async () => (await import('./schedules')).schedules,
      },
      { name: 'agents', title: 'Agents', load: async () => (await import('./follow-up')).agents },
      {
        name: 'agent_statuses',
        title: 'Agent statuses',
        load: async () => (await import('./follow-up')).agentStatuses,
      },
      {
        name: 'call_centers',
        title: 'Call centers',
        load: async () => (await import('./follow-up')).callCenters,
      },
      {
        name: 'agent_messages',
        title: 'Messages',
        load: async () => (await import('./follow-up')).agentMessages,
      },
      {
        name: 'dispositions',
        title: 'Dispositions',
        load: async () => (await import('./follow-up')).dispositions,
      },
    ],
  },
  {
    title: 'Money',
    pages: [
      {
        name: 'account_entries',
        title: 'Entries',
        load: async () => (await import('./account-entries')).accountEntries,
      },
      {
        name: 'statements',
        title: 'Statements',
        load: async () => (await import('./statements')).statements,
      },
    ],
  },
  {
    title: 'Connections',
    pages: [
      {
        name: 'outgoing_webhooks',
        title: 'Webhooks',
        load: async () => (await import('./webhooks')).outgoingWebhooks,
      },
      {
        name: 'webhook_logs',
        title: 'Deliveries',
        load: async () => (await import('./webhooks')).webhookLogs,
      },
      {
        name: 'inbound_webhooks',
        title: 'Inbound webhooks',
        load: async () => (await import('./webhooks')).inboundWebhooks,
      },
      {
        name: 'alert_rules',
        title: 'Alert rules',
        load: async () => (await import('./alerting')).alertRules,
      },
      { name: 'alerts', title: 'Alerts', load: async () => (await import('./alerting')).alerts },
      {
        name: 'switches',
        title: 'Switches',
        load: async () => (await import('./telephony')).switches,
      },
      { name: 'trunks', title: 'Trunks', load: async () => (await import('./telephony')).trunks },
    ],
  },
  {
    title: 'Account',
    pages: [
      { name: 'users', title: 'Users', load: async () => (await import('./users')).users },
      {
        name: 'access_control_lists',
        title: 'Teams',
        load: async () => (await import('./access-control-lists')).accessControlLists,
      },
      {
        name: 'access_tokens',
        title: 'Keys and sessions',
        load: async () => (await import('./access-tokens')).accessTokens,
      },
      {
        name: 'change_logs',
        title: 'Change log',
        load: async () => (await import('./change-logs')).changeLogs,
      },
    ],
  },
];

const MyAccount = lazy(async () => (await import('../account/account')).AccountView);
const Accounts = lazy(async () => (await import('../views/money/accounts')).AccountsView);
const Payouts = lazy(async () => (await import('../views/money/accounts')).PayoutsView);
const BlockedCallers = lazy(
  async () => (await import('../views/blocked-callers')).BlockedCallersView,
);
const Company = lazy(async () => (await import('../views/account/company')).CompanyView);

/** Views of an area that are not lists of records, in front of those that are. */
const SINGLE_VIEWS: Readonly<Record<string, readonly View[]>> = {
  Lists: [
    {
      name: 'contacts',
      title: 'Blocked callers',
      may: ({ may }) => may('contacts:read'),
      list: () => <BlockedCallers />,
    },
  ],
  Money: [
    {
      name: 'accounts',
      title: 'Accounts of buyers',
      may: ({ may }) => may('buyers:read') && may('account_entries:read'),
      list: () => <Accounts />,
    },
    {
      name: 'payouts',
      title: 'Payouts to sources',
      may: ({ may }) => may('traffic_sources:read') && may('account_entries:read'),
      list: () => <Payouts />,
    },
  ],
  Account: [
    {
      name: 'me',
      title: 'My account',
      may: ({ person }) => person !== undefined,
      list: () => <MyAccount />,
    },
    {
      name: 'company',
      title: 'Company',
      may: ({ may }) => may('company:read'),
      list: () => <Company />,
    },
  ],
};

export const NOUN_PAGES = NOUNS.map(({ title, pages }) => ({
  title,
  views: [...(SINGLE_VIEWS[title] ?? []), ...pages.map(toView)],
}));
