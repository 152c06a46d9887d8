import { AsyncResource } from 'node:async_hooks';
import { validate as shared, type Validator } from '../../../src/api/request/validate';

/** Belongs to no test: an object that outlives its test would keep the whole file in memory. */
const context = new AsyncResource('validator');

export const validate: Validator = (...request) =>
  context.runInAsyncScope(() => shared(...request));
