import { againstFleet } from '../../support/fleet-suites';
import '../../support/repetitions';

againstFleet('calls');
