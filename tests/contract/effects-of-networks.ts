import { all, at, type Effects } from './effect';

// The code in which the fields of tokens, alert rules, entries and statements have their effect.

const SOURCE_TOKENS = at('src/domain/offers/source-tokens.ts');
export const NETWORK_EFFECTS: Record<string, Effects> = {
  account_entries: {
    ...all('buyer_id traffic_source_id kind amount', at('src/domain/money/queries/entries.ts')),
    note: 'note',
  },
  alert_rules: {
    name: 'label',
    ...all('kind percent minutes count min_calls amount', at('src/domain/alerts/measure.ts')),
    ...all(
      'buyer_id buyer_group_id traffic_source_id offer_id',
      at('src/domain/alerts/measure.ts'),
    ),
    ...all('paused time_zone', at('src/domain/alerts/queries/alerts.ts')),
    emails: at('src/domain/alerts/watch.ts'),
    ...all(
      'schedule schedule.day schedule.times',
      at('src/domain/alerts/alert-rules.ts', 'schedule'),
    ),
  },
  traffic_source_tokens: {
    name: 'label',
    ...all('traffic_source_id offer_id schedule_id inbound_webhook_id', SOURCE_TOKENS),
  },
  statements: {
    ...all('buyer_id traffic_source_id from to', at('src/domain/money/queries/statements.ts')),
    time_zone: at('src/domain/money/statements.ts'),
  },
};
