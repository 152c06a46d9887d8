import { dayTime } from '../../format';
import type { PanelProps } from '../../nouns/layout';
import { Panel } from '../../parts/basics';
import { AlertList } from './open-alerts';

/** Its alerts, and why mails of it did not go out. */
export function RuleState({ record }: PanelProps) {
  const unconfirmed = (record.unconfirmed_emails ?? []) as string[];
  return (
    <Panel title="Alerts of this rule">
      {unconfirmed.length > 0 && (
        <p class="notice warn">
          Not mailed yet, since they have not opened the link that was sent to them:{' '}
          {unconfirmed.join(', ')}
        </p>
      )}
      {record.last_error !== null && (
        <p class="notice bad">
          It could not be checked at {dayTime(record.last_error_at as string)}:{' '}
          {String(record.last_error)}
        </p>
      )}
      {Number(record.unsent_mails_count) > 0 && (
        <p class="notice warn">
          {String(record.unsent_mails_count)} mails were not sent, the last at{' '}
          {dayTime(record.last_unsent_at as string)}: {String(record.last_unsent_reason)}
        </p>
      )}
      <AlertList
        query={{ alert_rule_id: String(record.id) }}
        empty="It has not had an alert yet."
      />
    </Panel>
  );
}
