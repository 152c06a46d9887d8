import { AsyncResource } from 'node:async_hooks';
import express from 'express';
import { validator, type Validator } from '../../../src/api/request/validate';

const shared = validator(express());

/** Belongs to no test: an object that outlives its test would keep the whole file in memory. */
const context = new AsyncResource('validator');

/** The validator depends on the contract alone, and compiling it takes seconds of a test file. */
export const validate: Validator = (...request) =>
  context.runInAsyncScope(() => shared(...request));
