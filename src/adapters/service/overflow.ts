import type { Logger } from 'pino';
import type { Schemas } from '../../platform/contract/contract-document';
import type { Reports } from './reports';

/** A call that its switch has sent elsewhere, as the service was away. */
export interface OverflowedCall {
  sid: string;
  number_called: string;
  caller_number: string | null;
  started_at: Date;
  ended_at: Date;
}

interface ImportEdges {
  reports: Pick<Reports, 'send'>;
  switch_name: string;
  log: Logger;
}

/** Reports such a call when it is over. One that the service knows is left as it is there. */
export function importCall(
  { sid, started_at, ended_at, ...numbers }: OverflowedCall,
  { reports, switch_name, log }: ImportEdges,
): void {
  const call = {
    ...{ ...numbers, call_sid: sid, switch: switch_name },
    ...{ started_at: started_at.toISOString(), ended_at: ended_at.toISOString() },
  };
  reports.send(
    { of: sid, path: '/call_sessions/import', body: { calls: [call] } },
    {
      answered: (answer) => {
        const [result] = (answer as Schemas['CallImportReply']).results;
        log.info({ sid, result: result?.result, errors: result?.errors }, 'a call was imported');
      },
    },
  );
}
