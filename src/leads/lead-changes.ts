// SQL for statements of other rooms that write leads: they must record each change.
export { RECORD_CHANGE, recordExit } from './queries/record-leads';
