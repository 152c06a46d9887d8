import { AsyncResource } from 'node:async_hooks';
import type { Operation } from '../../../src/platform/contract/contract';
import { findReader as shared, type RequestReader } from '../../../src/api/request/reader';

/** Belongs to no test: an object that outlives its test would keep the whole file in memory. */
const context = new AsyncResource('reader');

export const findReader =
  (operation: Operation): RequestReader =>
  (received) =>
    context.runInAsyncScope(() => shared(operation)(received));
