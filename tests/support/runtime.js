const { join, sep } = require('node:path');
const JestRuntime = require('jest-runtime').default;
const { sourceMaps } = require('./typescript');

const TESTS = join(__dirname, '..') + sep;
/** Modules that are loaded once a worker: they depend on the contract alone. */
const KEPT = join(__dirname, 'worker') + sep;

/**
 * Loads modules with Node's own `require`: src and its dependencies are evaluated once a worker,
 * not once a test file. Only the modules below tests/ are loaded again for each test file, but for
 * those in tests/support/worker. Module mocks (`jest.mock`) therefore do nothing; the code under
 * test is given its edges instead (`createDeps`).
 */
class Runtime extends JestRuntime {
  constructor(...given) {
    super(...given);
    const [, environment, , , , , testPath] = given;
    for (const file of Object.keys(require.cache)) {
      if (file.startsWith(TESTS) && file.endsWith('.ts') && !file.startsWith(KEPT))
        delete require.cache[file];
    }
    // A module also keeps those that it has required.
    module.children.length = 0;
    environment.global.jest = this.jestGlobals.jestObjectFor(testPath);
  }

  requireModule(file) {
    return require(file);
  }

  /** Jest's framework keeps the state of a test file in the module that it starts with. */
  requireInternalModule(file) {
    delete require.cache[require.resolve(file)];
    return require(file);
  }

  getSourceMaps() {
    return sourceMaps;
  }
}

module.exports = Runtime;
