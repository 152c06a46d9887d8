// The pages of a noun, which are one script: after a list comes a record.
export { ListPage } from './list';
export { NewRecordPage, RecordPage } from './record';
