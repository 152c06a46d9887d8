import { againstFleet } from '../support/fleet-suites';
import '../support/repetitions';

againstFleet(['suppression/lists', 'suppression/files']);
