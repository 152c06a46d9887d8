import { againstFleet } from '../support/fleet-suites';
import '../support/repetitions';

againstFleet(['buyers/buyers', 'buyers/buyer-groups', 'http/idempotency']);
