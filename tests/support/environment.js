const { LegacyFakeTimers, ModernFakeTimers } = require('@jest/fake-timers');
const { ModuleMocker } = require('jest-mock');
require('./typescript');
const { onTestEvent, recordAnswers } = require('./worker/answers');
const { closeServers } = require('./worker/servers');

/** Properties of Jest's framework on the global object: its handlers, the tests of the file. */
const KEPT_BY_JEST = ['EVENT_HANDLERS', 'JEST_STATE_SYMBOL'];

/**
 * Runs test files in the worker's own context. Jest's usual environment gives each test file a new
 * one, in which all of src and of its dependencies would be evaluated again (see
 * tests/support/runtime.js). Whatever a file changes on the process is put back after it.
 */
module.exports = class WorkerEnvironment {
  constructor({ projectConfig }) {
    this.global = globalThis;
    this.before = { console: globalThis.console, exit: process.exit, env: { ...process.env } };
    this.moduleMocker = new ModuleMocker(globalThis);
    const timers = { config: projectConfig, global: globalThis };
    this.fakeTimersModern = new ModernFakeTimers(timers);
    this.fakeTimers = new LegacyFakeTimers({
      ...timers,
      moduleMocker: this.moduleMocker,
      timerConfig: { idToRef: (id) => id, refToId: (ref) => ref },
    });
  }

  async setup() {
    recordAnswers();
  }

  handleTestEvent(event) {
    onTestEvent(event);
  }

  async teardown() {
    closeServers();
    this.fakeTimers.dispose();
    this.fakeTimersModern.dispose();
    const { console, exit, env } = this.before;
    globalThis.console = console;
    process.exit = exit;
    for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
    Object.assign(process.env, env);
    for (const symbol of Object.getOwnPropertySymbols(globalThis)) {
      if (KEPT_BY_JEST.includes(symbol.description)) delete globalThis[symbol];
    }
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  /** Asked for only by the loader of ES modules, which no test uses. */
  getVmContext() {
    return null;
  }
};
