import express from 'express';
import { validator } from '../../../src/http/validate';

/** The validator depends on the contract alone, and compiling it takes seconds of a test file. */
export const validate = validator(express());
