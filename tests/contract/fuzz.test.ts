import { fuzz } from '../support/fuzz-suite';
import { repetitions } from '../support/repetitions';

fuzz(({ method }) => method === 'get', repetitions(5, 200));
