import { fuzz } from '../support/fuzz-suite';
import { repetitions } from '../support/repetitions';

// A deletion that succeeds leaves nothing to try the others on.
fuzz(({ method }) => method !== 'get' && method !== 'delete', repetitions(8, 200));
