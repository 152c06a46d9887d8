import { AsyncResource } from 'node:async_hooks';
import express from 'express';
import { validator, type Validator } from '../../../src/http/validate';

const shared = validator(express());

/** Of no test: what is made in the context of a test, and stays, keeps all of its file in memory. */
const context = new AsyncResource('validator');

/** The validator depends on the contract alone, and compiling it takes seconds of a test file. */
export const validate: Validator = (...request) =>
  context.runInAsyncScope(() => shared(...request));
