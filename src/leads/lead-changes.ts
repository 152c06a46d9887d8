// SQL for statements of other rooms that write leads: what they record besides.
export { RECORD_CHANGE, recordExit } from './queries/record-leads';
