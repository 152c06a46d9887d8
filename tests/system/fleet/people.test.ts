import { againstFleet } from '../../support/fleet-suites';
import '../../support/repetitions';

againstFleet('people');
